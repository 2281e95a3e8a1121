#include "collector/metrics/worth_pace.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/counted_run.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kCheapNs = 1'000'000;

class WorthPaceTest : public ::testing::Test {
 protected:
  WorthPaceTest() {
    run_.StartRun();
    run_.StartProcess(1, kGpu);
    run_.SendKernels({"gemm", "norm"});
    run_.Send(0, FRAME_METRIC_SET, CountedSet(1, kGpu, kIntervalNs));
  }

  void Launch(int times, uint32_t variant = 0) {
    for (int i = 0; i < times; ++i, start_ns_ += 2000) {
      run_.SendLaunches({RunBuilder::LaunchAt(start_ns_, 1000, variant)});
    }
  }
  void Sample(uint32_t samples) {
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_device_uuid(kGpu);
    batch.set_base_ns(kRunStartNs);
    batch.set_interval_ns(kIntervalNs);
    batch.set_samples(samples);
    for (int column = 0; column < 5; ++column) {
      auto* deltas = batch.add_column();
      for (uint32_t i = 0; i < samples; ++i) deltas->add_delta(0);
    }
    run_.Send(0, FRAME_SAMPLES, batch);
  }
  bool Due(uint64_t second) { return pace_.Due(run_.intake().Advance(), second * kSecondNs); }
  // Whether it was due.
  bool Renew(uint64_t second, uint64_t cost_ns = kCheapNs) {
    const bool due = Due(second);
    if (due) pace_.Renewed(run_.intake().Advance(), second * kSecondNs, cost_ns);
    return due;
  }

  static constexpr uint64_t kIntervalNs = 5000;
  const std::string kGpu = RunBuilder::Uuid('A');
  RunBuilder run_;
  WorthPace pace_;
  uint64_t start_ns_ = 1000;
};

TEST_F(WorthPaceTest, BeginsAtOnce) { EXPECT_TRUE(Due(100)); }

TEST_F(WorthPaceTest, NothingNewIsLookedAtOnceAMinute) {
  Launch(10);
  ASSERT_TRUE(Renew(100));
  EXPECT_FALSE(Due(159));
  EXPECT_TRUE(Due(160));
}

TEST_F(WorthPaceTest, GrowthByLessThanAQuarterWaitsForTenSeconds) {
  Launch(10);
  ASSERT_TRUE(Renew(100));
  Launch(2);
  EXPECT_FALSE(Due(109));
  EXPECT_TRUE(Due(110));
  Launch(1);
  EXPECT_TRUE(Due(101)) << "more than a quarter";
}

TEST_F(WorthPaceTest, NewKernelsDoNotWait) {
  Launch(100);
  ASSERT_TRUE(Renew(100));
  Launch(1, 1);
  EXPECT_TRUE(Due(101));
}

TEST_F(WorthPaceTest, SamplesThatComeLaterDoNotWait) {
  Launch(10);
  ASSERT_TRUE(Renew(100));
  Sample(2);
  EXPECT_TRUE(Due(101));
}

TEST_F(WorthPaceTest, CostIsBoundedWhateverIsNew) {
  constexpr uint64_t kCostNs = 200'000'000;
  constexpr uint32_t kSeconds = 1000;
  int renewals = 0;
  for (uint32_t kernel = 2; kernel < 2 + kSeconds; ++kernel) {
    run_.SendKernels({"kernel " + std::to_string(kernel)}, 1, 132, 0, kernel);
    Launch(1, kernel);
    renewals += Renew(kernel, kCostNs) ? 1 : 0;
  }
  const double paid_ns = RenewalPace::kMostSavedNs + RenewalPace::kShare * kSeconds * 1e9;
  EXPECT_LE(renewals, paid_ns / kCostNs + 1);
  EXPECT_GE(renewals, paid_ns / kCostNs / 2);
}

}  // namespace
}  // namespace utlz
