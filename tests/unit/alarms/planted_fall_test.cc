// From frames of launches and samples to the alarm: a training becomes a tenth slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "collector/alarms/alarm_watch.h"
#include "collector/alarms/take_readings.h"
#include "tests/support/counted_run.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Of 40 ms each, while nothing slows them.
constexpr uint64_t kLaunches = 20;
constexpr uint64_t kLaunchNs = 40 * kMillisecondNs;
constexpr double kTensorShare = 0.4;

class PlantedFallTest : public testing::Test {
 protected:
  void SetUp() override {
    run_.StartRun();
    run_.StartProcess();
    run_.SendPeaks();
    run_.SendKernels({"nvjet_sm90_tst_a"});
    MetricSet set;
    set.set_id(1);
    set.set_device_uuid(RunBuilder::Uuid());
    set.set_interval_ns(kMillisecondNs);
    AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
    AddMetric(&set, "dram__bytes_write.sum", METRIC_DRAM_WRITE_BYTES, "byte");
    AddMetric(&set, "tensor.sum", METRIC_TENSOR_ACTIVE, "cycle", 400);
    AddMetric(&set, "gpc__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle");
    run_.Send(0, FRAME_METRIC_SET, set);
    TraceWindow window;
    window.set_start_ns(kRunStartNs);
    window.set_flags(1);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    SendSamples();
  }

  // Of the first two seconds, in which nothing is slow.
  void SendSamples() {
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_device_uuid(RunBuilder::Uuid());
    batch.set_base_ns(kRunStartNs);
    batch.set_interval_ns(kMillisecondNs);
    for (int i = 0; i < 4; ++i) batch.add_column();
    int64_t last[4] = {};
    constexpr uint64_t kSamples = 2000;
    for (uint64_t i = 0; i < kSamples; ++i) {
      const bool works = i % (1000 / kLaunches) < kLaunchNs / kMillisecondNs;
      const double active_ns = works ? kMillisecondNs : 0;
      const double values[] = {2e3 * active_ns, 1e3 * active_ns, kTensorShare * active_ns * 400,
                               double{kMillisecondNs}};
      for (int column = 0; column < 4; ++column) {
        const auto value = static_cast<int64_t>(values[column]);
        batch.mutable_column(column)->add_delta(value - last[column]);
        last[column] = value;
      }
    }
    batch.set_samples(kSamples);
    run_.Send(0, FRAME_SAMPLES, batch);
  }

  // The same launches, which take 1 ÷ `speed` as long; one second passes where that is 1.
  void Work(double speed) {
    if (now_ns_ >= 2 * kSecondNs) speed *= std::normal_distribution<double>(1, 0.01)(random_);
    std::vector<Launch> launches;
    for (uint64_t i = 0; i < kLaunches; ++i) {
      launches.push_back(RunBuilder::LaunchAt(
          now_ns_, static_cast<uint64_t>(static_cast<double>(kLaunchNs) / speed)));
      now_ns_ += static_cast<uint64_t>(static_cast<double>(kSecondNs) / kLaunches / speed);
    }
    run_.SendLaunches(launches);
    operations_ += kLaunches;
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    status.set_operations_recorded(operations_);
    status.set_operations_numbered(operations_);
    run_.Send(1, FRAME_AGENT_STATUS, status);
    const RunState& state = run_.intake().Advance();
    metrics_.RenewWorth(state);
    metrics_.Take(state, {});
    for (const Alarm& alarm : watch_.Look(TakeReadings(state, metrics_))) told_.push_back(alarm);
  }

  std::mt19937 random_{5};
  RunBuilder run_;
  RunMetrics metrics_;
  AlarmWatch watch_;
  uint64_t now_ns_ = 0;
  uint64_t operations_ = 0;
  std::vector<Alarm> told_;
};

TEST_F(PlantedFallTest, ATenthIsToldWithinHalfAMinute) {
  for (int i = 0; i < 180; ++i) Work(1);
  EXPECT_THAT(told_, IsEmpty());
  const uint64_t fell_ns = now_ns_;
  while (told_.empty() && now_ns_ < fell_ns + 30 * kSecondNs) Work(0.9);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].name(), "hfu_fell");
  const double hfu = kTensorShare * kLaunches * kLaunchNs / kSecondNs;
  EXPECT_NEAR(told_[0].before(), hfu, 0.05 * hfu);
  EXPECT_NEAR(told_[0].value(), 0.9 * hfu, 0.05 * hfu);
}

}  // namespace
}  // namespace utlz
