// The pages of a server, through the model and the metrics to an alarm and into the profile.
#include "collector/session/metrics_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class MetricsSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(folder_.File("run.utlz"));
    ASSERT_TRUE(writer.ok());
    recorder_ = std::make_unique<RunRecorder>(*std::move(writer));
    RunStart start;
    start.set_time_ns(kRunStartNs);
    start.set_host("node");
    start.mutable_workload_spec()->set_price_per_hour(PricePerHour());
    Record(0, FRAME_RUN_START, start);
    Process process;
    process.set_pid(7);
    process.set_start_time_ns(kRunStartNs);
    Record(1, FRAME_PROCESS, process);
    Device device;
    device.set_uuid(RunBuilder::Uuid());
    Record(1, FRAME_DEVICE, device);
    Context context;
    context.set_id(1);
    Record(1, FRAME_CONTEXT, context);
  }

  // 0: nobody gave one.
  virtual double PricePerHour() const { return 0; }

  template <typename Message>
  void Record(uint32_t source, FrameType type, const Message& message) {
    recorder_->Record(source, static_cast<uint16_t>(type), message.SerializeAsString());
  }

  // A GPU that is busy and takes 400 W, and a server whose queue grows.
  std::vector<Alarm> Pass(int seconds, double tokens_per_second) {
    std::vector<Alarm> all;
    for (int i = 0; i < seconds; ++i) {
      ++second_;
      const uint64_t now_ns = kRunStartNs + second_ * kSecondNs;
      DeviceTotalsBatch totals;
      totals.set_device_uuid(RunBuilder::Uuid());
      totals.add_time_ns(now_ns);
      totals.add_gpu_busy_percent(97);
      totals.add_energy_millijoules(400e3 * static_cast<double>(second_));
      Record(0, FRAME_DEVICE_TOTALS, totals);
      AgentStatus status;
      status.set_time_ns(now_ns);
      Record(1, FRAME_AGENT_STATUS, status);
      page_.set_time_ns(now_ns);
      page_.set_engine("vllm");
      page_.set_generated_tokens(page_.generated_tokens() + tokens_per_second);
      page_.set_waiting(page_.waiting() + 1);
      std::vector<Alarm> alarms = source_.Publish(recorder_.get(), second_ * kSecondNs, 0);
      if (recorder_->studying()) {
        recorder_->CatchUpWithAll();
        alarms = source_.Publish(recorder_.get(), second_ * kSecondNs, 0);
      }
      for (const Alarm& alarm : alarms) {
        all.push_back(alarm);
        Record(0, FRAME_ALARM, alarm);
      }
    }
    return all;
  }

  double Value(Metric metric) { return last_.Of(metric).empty() ? -1 : last_.Of(metric)[0].value; }

  TemporaryFolder folder_;
  std::unique_ptr<RunRecorder> recorder_;
  ApplicationReading page_;
  MetricsSnapshot last_;
  uint64_t second_ = 0;
  MetricsSource source_{SourceOptions()};

 private:
  SessionOptions SourceOptions() {
    SessionOptions options;
    options.publish_metrics = [this](MetricsSnapshot snapshot) { last_ = std::move(snapshot); };
    options.read_application = [this] { return std::make_optional(page_); };
    options.report_alarm = [](const Alarm&) {};
    return options;
  }
};

TEST_F(MetricsSourceTest, AServerThatIsOverrun) {
  EXPECT_THAT(Pass(60, 1000), IsEmpty());
  EXPECT_DOUBLE_EQ(Value(Metric::kAppTokenRate), 1000);
  EXPECT_DOUBLE_EQ(Value(Metric::kAppTokensPerJoule), 2.5);
  EXPECT_EQ(Value(Metric::kAppCostPerToken), -1);
  EXPECT_EQ(Value(Metric::kAppWaiting), 60);
  EXPECT_EQ(Value(Metric::kAlarm), -1);
  const std::vector<Alarm> alarms = Pass(60, 1000);
  ASSERT_THAT(alarms, SizeIs(1));
  EXPECT_EQ(alarms[0].name(), "queue_grows");
  EXPECT_EQ(Value(Metric::kAlarm), 1);
  source_.PublishLast(recorder_.get(), 0);
  const Summary summary = recorder_->Finish(RunEnd());
  ASSERT_EQ(summary.alarms_size(), 1);
  EXPECT_EQ(summary.alarms(0).name(), "queue_grows");
  EXPECT_EQ(summary.application().engine(), "vllm");
  EXPECT_NEAR(summary.application().tokens_per_second(), 1000, 1);
  EXPECT_NEAR(summary.application().joules_per_token(), 0.4, 0.01);
  EXPECT_FALSE(summary.application().has_cost_per_token()) << "nobody gave a price";
  EXPECT_EQ(summary.application().waiting_maximum(), 120);
}

class PricedServerTest : public MetricsSourceTest {
 protected:
  double PricePerHour() const override { return 7.2; }
};

TEST_F(PricedServerTest, WhatATokenCosts) {
  Pass(60, 1000);
  EXPECT_NEAR(Value(Metric::kAppCostPerToken), 2e-6, 1e-9);
  source_.PublishLast(recorder_.get(), 0);
  const Summary summary = recorder_->Finish(RunEnd());
  EXPECT_NEAR(summary.application().cost_per_token(), 2e-6, 1e-8);
}

TEST_F(PricedServerTest, NothingWhereNoTokenCame) {
  Pass(60, 0);
  EXPECT_EQ(Value(Metric::kAppTokenRate), 0);
  EXPECT_EQ(Value(Metric::kAppCostPerToken), -1);
  source_.PublishLast(recorder_.get(), 0);
  EXPECT_FALSE(recorder_->Finish(RunEnd()).application().has_cost_per_token());
}

TEST_F(MetricsSourceTest, AServerThatKeepsUpIsNoAlarm) {
  for (int second = 0; second < 120; ++second) EXPECT_THAT(Pass(1, 1000 + 20 * second), IsEmpty());
}

}  // namespace
}  // namespace utlz
