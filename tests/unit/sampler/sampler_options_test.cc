#include "collector/sampler/channel/sampler_options.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(SamplerOptions, SurviveTheCommandLine) {
  SamplerOptions options;
  options.channel_fd = 9;
  options.interval_ns = 5000;
  options.duty_ppm = 123;
  options.cpu_budget_ppm = 0;
  options.cpu_burst_ns = 77;
  options.power_loss_ppm = 2500;
  options.all_devices = true;
  options.planned_windows = true;
  options.counters = false;
  options.cupti_path = "/a b/libcupti.so=13";
  options.program_prefix = "/home/somebody/my=venv";
  const absl::StatusOr<SamplerOptions> parsed = ParseSamplerArguments(SamplerArguments(options));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->channel_fd, 9);
  EXPECT_EQ(parsed->interval_ns, 5000u);
  EXPECT_EQ(parsed->duty_ppm, 123u);
  EXPECT_EQ(parsed->cpu_budget_ppm, 0u);
  EXPECT_EQ(parsed->cpu_burst_ns, 77u);
  EXPECT_EQ(parsed->power_loss_ppm, 2500u);
  EXPECT_TRUE(parsed->all_devices);
  EXPECT_TRUE(parsed->planned_windows);
  EXPECT_FALSE(parsed->counters);
  EXPECT_EQ(parsed->cupti_path, options.cupti_path);
  EXPECT_EQ(parsed->program_prefix, options.program_prefix);
}

TEST(SamplerOptions, RefuseWhatTheyDoNotKnow) {
  for (const char* argument : {"--what=1", "--duty-ppm", "--duty-ppm=x", "--interval-ns=0",
                               "--interval-ns=99999999999", "word", ""}) {
    EXPECT_FALSE(ParseSamplerArguments({argument}).ok()) << argument;
  }
}

}  // namespace
}  // namespace utlz
