#include "collector/sampler/counters/window_activity.h"

#include <gtest/gtest.h>

#include <vector>

namespace utlz {
namespace {

constexpr int kMultiprocessors = 100;
constexpr uint64_t kSampleNs = 10'000;

SelectedMetrics Metrics(const std::vector<MetricRole>& roles) {
  SelectedMetrics metrics;
  for (const MetricRole role : roles) metrics.emplace_back().role = role;
  return metrics;
}

WindowActivity Seen(const std::vector<MetricRole>& roles, const std::vector<double>& values) {
  const SelectedMetrics metrics = Metrics(roles);
  WindowActivity activity(metrics);
  activity.Add(kSampleNs, values);
  return activity;
}

TEST(WindowActivity, FewOfTheCyclesOfAllMultiprocessorsAreNoWork) {
  const std::vector<MetricRole> roles = {METRIC_SM_CYCLES_ACTIVE, METRIC_SM_CYCLES_ELAPSED};
  EXPECT_FALSE(Seen(roles, {1'900, 10'000}).Computes(kMultiprocessors));
  EXPECT_TRUE(Seen(roles, {2'100, 10'000}).Computes(kMultiprocessors));
}

TEST(WindowActivity, WhereTheyAreNotCountedThereWasWork) {
  EXPECT_TRUE(Seen({METRIC_SM_CYCLES_ELAPSED}, {10'000}).Computes(kMultiprocessors));
}

TEST(WindowActivity, ReadsAndWritesTogetherAreCopiesAboveAnIdleGpusTraffic) {
  const std::vector<MetricRole> roles = {METRIC_DRAM_WRITE_BYTES, METRIC_SM_CYCLES_ELAPSED,
                                         METRIC_DRAM_READ_BYTES};
  EXPECT_FALSE(Seen(roles, {19'000, 10'000, 0}).Copies());
  EXPECT_TRUE(Seen(roles, {11'000, 10'000, 11'000}).Copies());
  EXPECT_FALSE(Seen({METRIC_SM_CYCLES_ELAPSED}, {10'000}).Copies());
}

TEST(WindowActivity, AddsUpSamples) {
  const SelectedMetrics metrics = Metrics({METRIC_SM_CYCLES_ELAPSED});
  WindowActivity activity(metrics);
  activity.Add(kSampleNs, std::vector<double>{10});
  activity.Add(2 * kSampleNs, std::vector<double>{32});
  EXPECT_EQ(activity.elapsed_cycles(), 42);
  EXPECT_EQ(activity.sampled_ns(), 3.0 * kSampleNs);
}

}  // namespace
}  // namespace utlz
