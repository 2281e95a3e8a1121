// What the first screen of a report shows: the kind of problem, the ladder, the families of
// kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "tests/support/counted_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// A matrix product of 60 µs, a normalization of 20 µs and a copy of 20 µs, `gap_ns` apart.
Summary ThreeFamilies(uint64_t gap_ns) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
                   "vectorized_layer_norm_kernel", "CatArrayBatchedCopy"});
  uint64_t now = 0;
  for (int step = 0; step < 100; ++step) {
    uint32_t kernel = 0;
    for (const uint64_t busy_us : {60, 20, 20}) {
      run.SendLaunches({RunBuilder::LaunchAt(now, busy_us * kMicrosecond, kernel++)});
      now += busy_us * kMicrosecond + gap_ns;
    }
  }
  return run.EndRun(now);
}

std::map<std::string, double> FamilyTimes(const Summary& summary) {
  std::map<std::string, double> times;
  for (const FamilySummary& family : summary.families()) {
    times[family.family()] = family.time_per_step_ns();
  }
  return times;
}

TEST(FirstScreenTest, FamiliesAddUpToTheKernelTimeOfAStep) {
  const Summary summary = ThreeFamilies(kMicrosecond);
  std::map<std::string, double> times = FamilyTimes(summary);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_NEAR(times["gemm"], 60.0 * kMicrosecond, 100);
  EXPECT_NEAR(times["normalization"], 20.0 * kMicrosecond, 100);
  EXPECT_NEAR(times["copy"], 20.0 * kMicrosecond, 100);
  EXPECT_NEAR(times["gemm"] + times["normalization"] + times["copy"],
              summary.steps().kernel_time_ns(), 100);
}

// Of several GPUs that work on one step, the mean: beside the step's time their sum says nothing.
TEST(FirstScreenTest, FamiliesOfSeveralGpusAreThoseOfOne) {
  const std::map<std::string, double> one = FamilyTimes(CountedRun().Run());
  CountedRun run;
  run.AddDevice('B', 5e9, 1000);
  const std::map<std::string, double> two = FamilyTimes(run.Run());
  ASSERT_FALSE(one.empty());
  for (const auto& [family, time_ns] : one) {
    ASSERT_GT(time_ns, 0);
    EXPECT_NEAR(two.at(family), time_ns, 0.02 * time_ns) << family;
  }
}

// One rank of a job: a matrix product, a collective on another stream that begins half-way through
// it, and a normalization after both.
void SendRank(uint32_t source, uint64_t product_ns, uint64_t collective_ns, RunBuilder* run) {
  run->StartProcess(source, RunBuilder::Uuid(static_cast<char>('A' + source)));
  run->SendKernels({"nvjet_sm90_tst_a", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                    "vectorized_layer_norm_kernel"},
                   source);
  constexpr uint64_t kStepNs = 200 * kMicrosecond;
  for (uint64_t now = 0; now < 100 * kStepNs; now += kStepNs) {
    const uint64_t begin = now + product_ns / 2;
    run->SendLaunches({RunBuilder::LaunchAt(now, product_ns, 0)}, source, 7);
    run->SendLaunches({RunBuilder::LaunchAt(begin, collective_ns, 1)}, source, 8);
    const uint64_t end = std::max(now + product_ns, begin + collective_ns);
    run->SendLaunches({RunBuilder::LaunchAt(end + kMicrosecond, 20 * kMicrosecond, 2)}, source, 7);
  }
}

// A collective has the time in which nothing else ran, however long it was under way.
TEST(FirstScreenTest, ACollectiveBesideAnotherKernelMakesThatOneNoShorter) {
  RunBuilder run;
  run.StartRun();
  SendRank(1, 60 * kMicrosecond, 50 * kMicrosecond, &run);
  const Summary summary = run.EndRun(21 * kMillisecond);
  std::map<std::string, double> times = FamilyTimes(summary);
  EXPECT_NEAR(times["gemm"], 60.0 * kMicrosecond, 100);
  EXPECT_NEAR(times["communication"], 20.0 * kMicrosecond, 100);
  EXPECT_NEAR(times["normalization"], 20.0 * kMicrosecond, 100);
  EXPECT_NEAR(summary.steps().kernel_time_ns(), 100.0 * kMicrosecond, 100);
  for (const FamilySummary& family : summary.families()) {
    EXPECT_NEAR(family.launches_per_step(), 1, 0.01) << family.family();
    EXPECT_FALSE(family.has_estimated_savings_ns()) << family.family() << " has no known roof";
    EXPECT_FALSE(family.has_estimated_savings_per_step_ns()) << family.family();
  }
}

// The one with more to do waits less.
TEST(FirstScreenTest, FamiliesOfRanksThatDoUnequalWorkAreTheirMean) {
  RunBuilder run;
  run.StartRun();
  SendRank(1, 120 * kMicrosecond, 80 * kMicrosecond, &run);
  SendRank(2, 60 * kMicrosecond, 110 * kMicrosecond, &run);
  std::map<std::string, double> times = FamilyTimes(run.EndRun(21 * kMillisecond));
  // Which launches lie in the steps is known as far as the kernels' timelines tell.
  EXPECT_NEAR(times["gemm"], 90.0 * kMicrosecond, 0.01 * times["gemm"]);
  EXPECT_NEAR(times["communication"], 50.0 * kMicrosecond, 0.01 * times["communication"]);
  EXPECT_NEAR(times["normalization"], 20.0 * kMicrosecond, 0.01 * times["normalization"]);
}

// Without counters nothing is known of rooflines: the ladder ends where the GPU never waits.
TEST(FirstScreenTest, TheLadderShowsWhatIsKnown) {
  const Summary summary = ThreeFamilies(20 * kMicrosecond);
  EXPECT_EQ(summary.problem(), "launch-bound");
  ASSERT_EQ(summary.ladder().rungs_size(), 2);
  EXPECT_EQ(summary.ladder().unit(), "step");
  EXPECT_NEAR(summary.ladder().rungs(0).time_ns(), 160.0 * kMicrosecond, 100);
  EXPECT_NEAR(summary.ladder().rungs(1).time_ns(), 100.0 * kMicrosecond, 100);
  EXPECT_NEAR(summary.ladder().rungs(1).speedup(), 1.6, 0.01);
  EXPECT_NEAR(summary.ladder().time_kept_ns(), 100.0 * kMicrosecond, 100);
  EXPECT_NE(summary.trust().find("100.0 % of the kernel time without counters"), std::string::npos)
      << summary.trust();
}

TEST(FirstScreenTest, ABusyGpuWithoutCountersHasNoNamedProblem) {
  EXPECT_FALSE(ThreeFamilies(kMicrosecond).has_problem());
}

}  // namespace
}  // namespace utlz
