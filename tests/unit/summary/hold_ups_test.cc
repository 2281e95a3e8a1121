// Steps that utlz itself held up while it set the GPU's counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/counted_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr uint64_t kSteps = 60;
constexpr uint64_t kStepNs = 20 * kMillisecond;
constexpr uint64_t kStallNs = 30 * kMillisecond;
constexpr uint32_t kBaseSet = 1;
constexpr uint32_t kExtendedSet = 2;

// A loop of steps of 20 ms, sampled with one set of metrics, then another, then the first again;
// some steps wait before their last kernel.
class SampledLoop {
 public:
  SampledLoop() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"a", "b", "c", "d"});
    for (const uint32_t id : {kBaseSet, kExtendedSet}) {
      MetricSet set;
      set.set_id(id);
      set.set_device_uuid(RunBuilder::Uuid());
      set.set_interval_ns(10'000);
      AddMetric(&set, "dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte");
      run_.Send(0, FRAME_METRIC_SET, set);
    }
  }

  RunBuilder& run() { return run_; }

  void Sample(uint32_t set, uint64_t start_ns) {
    SampleBatch batch;
    batch.set_metric_set(set);
    batch.set_device_uuid(RunBuilder::Uuid());
    batch.set_base_ns(kRunStartNs + start_ns);
    batch.set_samples(1);
    batch.set_interval_ns(10'000);
    batch.add_interval_residual_ns(0);
    batch.add_column()->add_delta(1);
    batch.set_window_start(true);
    run_.Send(0, FRAME_SAMPLES, batch);
  }

  void Step(bool waits) {
    std::vector<Launch> launches;
    for (uint32_t kernel = 0; kernel < 4; ++kernel) {
      if (waits && kernel == 3) now_ns_ += kStallNs;
      launches.push_back(RunBuilder::LaunchAt(now_ns_, kStepNs / 4 - kMicrosecond, kernel));
      now_ns_ += kStepNs / 4;
    }
    run_.SendLaunches(launches);
  }

  uint64_t now_ns() const { return now_ns_; }
  Summary End() { return run_.EndRun(now_ns_); }

 private:
  RunBuilder run_;
  uint64_t now_ns_ = 0;
};

// The sets change between steps 29 and 30, and in step `waiting` nothing runs for a while.
Summary RunWith(const std::vector<uint64_t>& waiting, bool sets_change = true) {
  SampledLoop loop;
  for (uint64_t step = 0; step < kSteps; ++step) {
    const bool waits = std::find(waiting.begin(), waiting.end(), step) != waiting.end();
    if (step == 28) loop.Sample(kBaseSet, loop.now_ns());
    loop.Step(waits);
    if (step == 30) loop.Sample(sets_change ? kExtendedSet : kBaseSet, loop.now_ns());
  }
  return loop.End();
}

TEST(HoldUpsTest, AStepThatWaitsWhileCountersAreSetIsNotSlow) {
  const Summary summary = RunWith({30});
  const StepsSummary& steps = summary.steps();
  EXPECT_EQ(steps.slow_size(), 0);
  ASSERT_EQ(steps.held_up_size(), 1);
  EXPECT_NEAR(steps.held_up_time_ns(0), kStallNs, 0.05 * kStallNs);
  EXPECT_NEAR(steps.time_mean_ns(), kStepNs, 0.01 * kStepNs);
  EXPECT_NEAR(summary.steady_state().held_up_time_ns(), kStallNs, 0.05 * kStallNs);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(HoldUpsTest, WithoutAChangeOfCountersItIsTheProgramsOwn) {
  const Summary summary = RunWith({30}, false);
  EXPECT_EQ(summary.steps().held_up_size(), 0);
  EXPECT_EQ(summary.steps().slow_size(), 1);
}

TEST(HoldUpsTest, AProgramThatWaitsNowAndThenWaitsThenToo) {
  const Summary summary = RunWith({4, 12, 20, 30, 38, 46, 54});
  EXPECT_EQ(summary.steps().held_up_size(), 0);
  EXPECT_EQ(summary.steps().slow_size(), 7);
}

TEST(HoldUpsTest, TheSamplersRecordGoesBeforeWhatWindowsShow) {
  const auto with_record = [](uint64_t at_step) {
    SampledLoop loop;
    for (uint64_t step = 0; step < kSteps; ++step) {
      const uint64_t start_ns = loop.now_ns();
      if (step == 28) loop.Sample(kBaseSet, start_ns);
      loop.Step(step == 30);
      if (step == 31) loop.Sample(kExtendedSet, loop.now_ns());
      if (step != at_step) continue;
      CounterSetting setting;
      setting.set_device_uuid(RunBuilder::Uuid());
      setting.set_start_ns(kRunStartNs + start_ns);
      setting.set_end_ns(kRunStartNs + loop.now_ns());
      loop.run().Send(0, FRAME_COUNTER_SETTING, setting);
    }
    return loop.End();
  };
  EXPECT_EQ(with_record(30).steps().held_up_size(), 1);
  EXPECT_EQ(with_record(12).steps().held_up_size(), 0) << "the counters were set at another time";
}

}  // namespace
}  // namespace utlz
