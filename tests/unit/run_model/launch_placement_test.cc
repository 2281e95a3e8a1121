#include "collector/run/launch_placement.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr uint32_t kThread = 77;

struct Call {
  uint64_t start_ns;
  uint32_t correlation;
  uint32_t thread = kThread;
};

void SendCalls(LaunchPlacement* placement, const std::vector<Call>& calls, uint32_t source = 1) {
  LaunchCallBatch batch;
  uint64_t previous_ns = 0;
  int64_t correlation = 0;
  for (const Call& call : calls) {
    batch.add_start_delta_ns(static_cast<int64_t>(call.start_ns - previous_ns));
    batch.add_duration_ns(100);
    batch.add_correlation_delta(call.correlation - correlation);
    batch.add_thread(call.thread);
    previous_ns = call.start_ns;
    correlation = call.correlation;
  }
  ASSERT_TRUE(placement->AddCalls(source, batch));
}

TEST(LaunchPlacement, JoinsWhateverComesFirst) {
  LaunchPlacement placement;
  MarkerKernels kernels;
  placement.AddRange(1, kThread, 100, 200, &kernels);
  placement.AddLaunch(1, 5, 3, 40);
  SendCalls(&placement, {{150, 5}, {160, 6}, {90, 7}, {201, 8}});
  placement.AddLaunch(1, 6, 3, 60);
  placement.AddLaunch(1, 7, 3, 1000);
  placement.AddLaunch(1, 8, 3, 1000);
  placement.Settle(1, 200);
  EXPECT_TRUE(kernels.by_kernel.empty()) << "what ended in the range may still come";
  placement.Settle(1, 201);
  EXPECT_TRUE(kernels.seen);
  EXPECT_FALSE(kernels.incomplete);
  ASSERT_EQ(kernels.by_kernel.size(), 1u);
  EXPECT_EQ(kernels.by_kernel[3].launches, 2u);
  EXPECT_EQ(kernels.by_kernel[3].time_ns, 100u);
  placement.SettleAll();
  EXPECT_EQ(kernels.by_kernel[3].launches, 2u) << "a range is added up once";
}

TEST(LaunchPlacement, OtherThreadsAndProcessesAreNotInTheRange) {
  LaunchPlacement placement;
  MarkerKernels kernels;
  SendCalls(&placement, {{150, 5, kThread + 1}});
  SendCalls(&placement, {{150, 5}}, 2);
  placement.AddLaunch(1, 5, 3, 40);
  placement.AddLaunch(2, 5, 3, 40);
  placement.AddRange(1, kThread, 100, 200, &kernels);
  placement.SettleAll();
  EXPECT_TRUE(kernels.seen);
  EXPECT_TRUE(kernels.by_kernel.empty());
}

TEST(LaunchPlacement, NestedRangesBothHoldALaunch) {
  LaunchPlacement placement;
  MarkerKernels outer;
  MarkerKernels inner;
  SendCalls(&placement, {{150, 5}});
  placement.AddLaunch(1, 5, 3, 40);
  placement.AddRange(1, kThread, 140, 160, &inner);
  placement.AddRange(1, kThread, 100, 200, &outer);
  placement.SettleAll();
  EXPECT_EQ(outer.by_kernel[3].launches, 1u);
  EXPECT_EQ(inner.by_kernel[3].launches, 1u);
}

TEST(LaunchPlacement, ACallOfTheRuntimeAndTheDriversInsideItCountOnce) {
  LaunchPlacement placement;
  MarkerKernels kernels;
  SendCalls(&placement, {{150, 5}, {151, 5}});
  placement.AddLaunch(1, 5, 3, 40);
  placement.AddRange(1, kThread, 100, 200, &kernels);
  placement.SettleAll();
  EXPECT_EQ(kernels.by_kernel[3].launches, 1u);
}

TEST(LaunchPlacement, WithoutCallsNothingIsKnown) {
  LaunchPlacement placement;
  MarkerKernels kernels;
  placement.AddLaunch(1, 5, 3, 40);
  placement.AddRange(1, kThread, 100, 200, &kernels);
  placement.SettleAll();
  EXPECT_FALSE(kernels.seen);
}

TEST(LaunchPlacement, RefusesColumnsThatDisagree) {
  LaunchPlacement placement;
  LaunchCallBatch batch;
  batch.add_start_delta_ns(1);
  EXPECT_FALSE(placement.AddCalls(1, batch));
}

TEST(LaunchPlacement, ForgetsTheOldestAndSaysSo) {
  LaunchPlacement placement;
  MarkerKernels old_range;
  MarkerKernels new_range;
  constexpr uint64_t kLaunches = LaunchPlacement::kMaxPlaced + 1;
  constexpr uint64_t kBatch = 1 << 16;
  for (uint64_t first = 1; first <= kLaunches; first += kBatch) {
    std::vector<Call> calls;
    for (uint64_t i = first; i < first + kBatch; ++i) {
      calls.push_back({1000 + i, static_cast<uint32_t>(i)});
    }
    SendCalls(&placement, calls);
    for (const Call& call : calls) placement.AddLaunch(1, call.correlation, 3, 1);
  }
  placement.AddRange(1, kThread, 1000, 2'000'000, &old_range);
  placement.AddRange(1, kThread, 1000 + kLaunches - 99, 1000 + kLaunches, &new_range);
  placement.SettleAll();
  EXPECT_TRUE(old_range.incomplete);
  EXPECT_FALSE(new_range.incomplete);
  EXPECT_EQ(new_range.by_kernel[3].launches, 100u);
}

}  // namespace
}  // namespace utlz
