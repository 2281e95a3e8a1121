#include "collector/run/nvtx_range_correlator.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr uint32_t kThread = 77;

struct Call {
  uint64_t start_ns;
  uint32_t correlation;
  uint32_t thread = kThread;
};

void SendCalls(NvtxRangeCorrelator* correlator, const std::vector<Call>& calls,
               uint32_t source = 1) {
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
  ASSERT_TRUE(correlator->AddCalls(source, batch));
}

TEST(NvtxRangeCorrelator, JoinsWhateverComesFirst) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  correlator.AddRange(1, kThread, 100, 200, &kernels);
  correlator.AddLaunch(1, 5, {3, 40});
  SendCalls(&correlator, {{150, 5}, {160, 6}, {90, 7}, {201, 8}});
  correlator.AddLaunch(1, 6, {3, 60});
  correlator.AddLaunch(1, 7, {3, 1000});
  correlator.AddLaunch(1, 8, {3, 1000});
  correlator.Settle(1, 200);
  EXPECT_TRUE(kernels.by_kernel.empty()) << "what ended in the range may still come";
  correlator.Settle(1, 201);
  EXPECT_TRUE(kernels.seen);
  EXPECT_FALSE(kernels.incomplete);
  ASSERT_EQ(kernels.by_kernel.size(), 1u);
  EXPECT_EQ(kernels.by_kernel[3].launches, 2u);
  EXPECT_EQ(kernels.by_kernel[3].time_ns, 100u);
  correlator.SettleAll();
  EXPECT_EQ(kernels.by_kernel[3].launches, 2u) << "a range is added up once";
}

TEST(NvtxRangeCorrelator, OtherThreadsAndProcessesAreNotInTheRange) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  SendCalls(&correlator, {{150, 5, kThread + 1}});
  SendCalls(&correlator, {{150, 5}}, 2);
  correlator.AddLaunch(1, 5, {3, 40});
  correlator.AddLaunch(2, 5, {3, 40});
  correlator.AddRange(1, kThread, 100, 200, &kernels);
  correlator.SettleAll();
  EXPECT_TRUE(kernels.seen);
  EXPECT_TRUE(kernels.by_kernel.empty());
}

TEST(NvtxRangeCorrelator, NestedRangesBothHoldALaunch) {
  NvtxRangeCorrelator correlator;
  MarkerKernels outer;
  MarkerKernels inner;
  SendCalls(&correlator, {{150, 5}});
  correlator.AddLaunch(1, 5, {3, 40});
  correlator.AddRange(1, kThread, 140, 160, &inner);
  correlator.AddRange(1, kThread, 100, 200, &outer);
  correlator.SettleAll();
  EXPECT_EQ(outer.by_kernel[3].launches, 1u);
  EXPECT_EQ(inner.by_kernel[3].launches, 1u);
}

TEST(NvtxRangeCorrelator, ACallOfTheRuntimeAndTheDriversInsideItCountOnce) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  SendCalls(&correlator, {{150, 5}, {151, 5}});
  correlator.AddLaunch(1, 5, {3, 40});
  correlator.AddRange(1, kThread, 100, 200, &kernels);
  correlator.SettleAll();
  EXPECT_EQ(kernels.by_kernel[3].launches, 1u);
}

TEST(NvtxRangeCorrelator, WhatAThreadLaunchesThatKeepsACallsNumberIsNotKnown) {
  for (const bool launches_wait : {false, true}) {
    NvtxRangeCorrelator correlator;
    MarkerKernels before, later, elsewhere;
    const auto launch = [&correlator] {
      correlator.AddLaunch(1, 5, {3, 40});
      for (int i = 0; i < 9; ++i) correlator.AddLaunch(1, 6, {3, 40});
      correlator.AddLaunch(1, 7, {3, 40});
    };
    if (launches_wait) launch();
    SendCalls(&correlator, {{110, 5}, {210, 6}, {310, 6}, {320, 6}, {330, 7, kThread + 1}});
    if (!launches_wait) launch();
    correlator.AddRange(1, kThread, 100, 200, &before);
    correlator.AddRange(1, kThread, 205, 400, &later);
    correlator.AddRange(1, kThread + 1, 205, 400, &elsewhere);
    correlator.SettleAll();
    EXPECT_EQ(before.by_kernel[3].launches, 1u);
    EXPECT_FALSE(before.incomplete);
    EXPECT_EQ(later.by_kernel[3].launches, 1u) << "the call that the number is of";
    EXPECT_TRUE(later.incomplete);
    EXPECT_EQ(elsewhere.by_kernel[3].launches, 1u);
    EXPECT_FALSE(elsewhere.incomplete);
  }
}

TEST(NvtxRangeCorrelator, ACallThatLaunchesAGraphLaunchesMany) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  SendCalls(&correlator, {{150, 5}});
  for (int i = 0; i < 4; ++i)
    correlator.AddLaunch(1, 5, {.kernel = 3, .duration_ns = 40, .of_graph = true});
  correlator.AddRange(1, kThread, 100, 200, &kernels);
  correlator.SettleAll();
  EXPECT_EQ(kernels.by_kernel[3].launches, 4u);
  EXPECT_FALSE(kernels.incomplete);
}

TEST(NvtxRangeCorrelator, WithoutCallsNothingIsKnown) {
  NvtxRangeCorrelator correlator;
  MarkerKernels kernels;
  correlator.AddLaunch(1, 5, {3, 40});
  correlator.AddRange(1, kThread, 100, 200, &kernels);
  correlator.SettleAll();
  EXPECT_FALSE(kernels.seen);
}

TEST(NvtxRangeCorrelator, RefusesColumnsThatDisagree) {
  NvtxRangeCorrelator correlator;
  LaunchCallBatch batch;
  batch.add_start_delta_ns(1);
  EXPECT_FALSE(correlator.AddCalls(1, batch));
}

TEST(NvtxRangeCorrelator, ForgetsTheOldestAndSaysSo) {
  NvtxRangeCorrelator correlator;
  MarkerKernels old_range;
  MarkerKernels new_range;
  constexpr uint64_t kLaunches = NvtxRangeCorrelator::kMaxPlaced + 1;
  constexpr uint64_t kBatch = 1 << 16;
  for (uint64_t first = 1; first <= kLaunches; first += kBatch) {
    std::vector<Call> calls;
    for (uint64_t i = first; i < first + kBatch; ++i) {
      calls.push_back({1000 + i, static_cast<uint32_t>(i)});
    }
    SendCalls(&correlator, calls);
    for (const Call& call : calls) correlator.AddLaunch(1, call.correlation, {3, 1});
  }
  correlator.AddRange(1, kThread, 1000, 2'000'000, &old_range);
  correlator.AddRange(1, kThread, 1000 + kLaunches - 99, 1000 + kLaunches, &new_range);
  correlator.SettleAll();
  EXPECT_TRUE(old_range.incomplete);
  EXPECT_FALSE(new_range.incomplete);
  EXPECT_EQ(new_range.by_kernel[3].launches, 100u);
}

}  // namespace
}  // namespace utlz
