#include "tools/app_metrics/application_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace utlz {
namespace {

using ::testing::ElementsAre;

TEST(ApplicationPage, Vllm) {
  const auto reading = ReadApplicationPage(
      "# HELP vllm:num_requests_waiting Number of requests waiting to be processed.\n"
      "# TYPE vllm:num_requests_waiting gauge\n"
      "vllm:num_requests_waiting{engine=\"0\",model_name=\"a\"} 3.0\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"a\"} 8.0\n"
      "vllm:prompt_tokens_total{engine=\"0\",model_name=\"a\"} 1.5e+06\n"
      "vllm:generation_tokens_total{engine=\"0\",model_name=\"a}\\\"{\"} 20000.0\n"
      "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\"} 90.0\n"
      "vllm:request_success_total{engine=\"0\",finished_reason=\"length\"} 10.0\n"
      "vllm:estimated_flops_per_gpu_total{engine=\"0\"} 2e15\n"
      "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.5\"} 60.0\n"
      "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"1.0\"} 99.0\n"
      "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"+Inf\"} 100.0\n"
      "vllm:time_to_first_token_seconds_sum{engine=\"0\"} 40.0\n");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->engine(), "vllm");
  EXPECT_EQ(reading->waiting(), 3);
  EXPECT_EQ(reading->running(), 8);
  EXPECT_EQ(reading->prompt_tokens(), 1.5e6);
  EXPECT_EQ(reading->generated_tokens(), 20000);
  EXPECT_EQ(reading->requests(), 100) << "however they ended";
  EXPECT_EQ(reading->estimated_flops(), 2e15);
  EXPECT_THAT(reading->first_token_seconds(), ElementsAre(0.5, 1, INFINITY));
  EXPECT_THAT(reading->first_token_requests(), ElementsAre(60, 99, 100));
}

TEST(ApplicationPage, Sglang) {
  const auto reading = ReadApplicationPage(
      "sglang:num_queue_reqs{model_name=\"m\",tp_rank=\"0\"} 5\n"
      "sglang:num_running_reqs{model_name=\"m\",tp_rank=\"0\"} 2\n"
      "sglang:generation_tokens_total{model_name=\"m\"} 7\n"
      "sglang:num_requests_total{model_name=\"m\"} 4\n"
      "sglang:estimated_flops_per_gpu_total{model_name=\"m\"} 11\n");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->engine(), "sglang");
  EXPECT_EQ(reading->waiting(), 5);
  EXPECT_EQ(reading->generated_tokens(), 7);
  EXPECT_EQ(reading->requests(), 4);
  EXPECT_EQ(reading->estimated_flops(), 11);
  EXPECT_FALSE(reading->has_prompt_tokens()) << "it is not there";
}

TEST(ApplicationPage, Tgi) {
  const auto reading = ReadApplicationPage(
      "tgi_queue_size 2\ntgi_request_success{method=\"batch\"} 9\n"
      "tgi_request_generated_tokens_sum 1234\ntgi_request_input_length_sum 55\n"
      "tgi_batch_current_size 4\n");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->engine(), "tgi");
  EXPECT_EQ(reading->waiting(), 2);
  EXPECT_EQ(reading->generated_tokens(), 1234);
  EXPECT_EQ(reading->prompt_tokens(), 55);
  EXPECT_EQ(reading->requests(), 9);
  EXPECT_EQ(reading->first_token_seconds_size(), 0);
}

TEST(ApplicationPage, Triton) {
  const auto reading = ReadApplicationPage(
      "nv_inference_request_success{model=\"a\",version=\"1\"} 30\n"
      "nv_inference_request_success{model=\"b\",version=\"1\"} 12\n"
      "nv_inference_pending_request_count{model=\"a\",version=\"1\"} 1\n"
      "nv_inference_first_response_histogram_ms_bucket{model=\"a\",le=\"100\"} 30\n"
      "nv_inference_first_response_histogram_ms_bucket{model=\"a\",le=\"+Inf\"} 30\n");
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->engine(), "triton");
  EXPECT_EQ(reading->requests(), 42) << "of all models";
  EXPECT_FALSE(reading->has_generated_tokens());
  EXPECT_THAT(reading->first_token_seconds(), ElementsAre(0.1, INFINITY));
}

TEST(ApplicationPage, RubbishIsNoPage) {
  for (const char* page : {"", "\n\n", "<html>", "up 1\n", "vllm:num_requests_waiting\n",
                           "vllm:num_requests_waiting{\n", "vllm:num_requests_waiting{a=\"} 1\n",
                           "vllm:num_requests_waiting NaN\n", "vllm:num_requests_waiting -1\n",
                           "vllm:num_requests_waiting +Inf\n", "# vllm:num_requests_waiting 1\n"}) {
    EXPECT_FALSE(ReadApplicationPage(page).has_value()) << page;
  }
  EXPECT_FALSE(ReadApplicationPage(std::string(kMaxApplicationPageBytes + 1, '\n')).has_value());
}

TEST(ApplicationPage, BucketsAreBounded) {
  std::string page = "vllm:num_requests_waiting 1\n";
  for (int i = 0; i < 5000; ++i) {
    page += "vllm:time_to_first_token_seconds_bucket{le=\"" + std::to_string(i) + "\"} 1\n";
  }
  EXPECT_LE(ReadApplicationPage(page)->first_token_seconds_size(), 256);
}

}  // namespace
}  // namespace utlz
