#include "tools/collector_service/job_metrics.h"

#include <gtest/gtest.h>

#include <map>

namespace utlz {
namespace {

using Clock = JobMetrics::Clock;

MetricsSnapshot Snapshot(double launches) {
  MetricsSnapshot snapshot;
  snapshot.Add(Metric::kKernelLaunches, {{"UUID", "GPU-1"}}, launches);
  snapshot.Add(Metric::kHfu, {{"UUID", "GPU-1"}}, 0.5);
  return snapshot;
}

std::map<std::string, double> ByJob(const MetricsSnapshot& snapshot, Metric metric) {
  std::map<std::string, double> values;
  for (const MetricSample& sample : snapshot.Of(metric)) {
    EXPECT_EQ(std::string(sample.labels.back().first), "utlz_job");
    EXPECT_TRUE(values.emplace(sample.labels.back().second, sample.value).second) << "twice";
  }
  return values;
}

TEST(JobMetricsTest, EachSampleSaysOfWhichJobItIs) {
  JobMetrics metrics;
  const uint64_t a = metrics.Begin("a");
  const uint64_t b = metrics.Begin("b");
  metrics.Publish(a, Snapshot(1));
  metrics.Publish(b, Snapshot(2));
  const auto merged = metrics.Merged(Clock::now());
  ASSERT_TRUE(merged);
  EXPECT_EQ(ByJob(*merged, Metric::kKernelLaunches),
            (std::map<std::string, double>{{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(metrics.Merged(Clock::now())) << "nothing has changed";
}

TEST(JobMetricsTest, TwoJobsOfOneNameAreToldApart) {
  JobMetrics metrics;
  metrics.Publish(metrics.Begin("a"), Snapshot(1));
  metrics.Publish(metrics.Begin("a"), Snapshot(2));
  EXPECT_EQ(ByJob(*metrics.Merged(Clock::now()), Metric::kKernelLaunches),
            (std::map<std::string, double>{{"a", 1}, {"a-2", 2}}));
}

TEST(JobMetricsTest, WhatAJobCountedOutlivesItForAWhile) {
  JobMetrics metrics;
  const Clock::time_point now = Clock::now();
  const uint64_t a = metrics.Begin("a");
  metrics.Publish(a, Snapshot(1));
  metrics.End(a, now);
  const auto merged = metrics.Merged(now);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->Of(Metric::kKernelLaunches).size(), 1u);
  EXPECT_TRUE(merged->Of(Metric::kHfu).empty()) << "what was true of a moment is true no more";
  const auto later = metrics.Merged(now + JobMetrics::kLasting);
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->Of(Metric::kKernelLaunches).empty());
}

TEST(JobMetricsTest, EndedJobsAreBounded) {
  JobMetrics metrics;
  const Clock::time_point now = Clock::now();
  for (size_t i = 0; i < 2 * JobMetrics::kMostEnded; ++i) {
    const uint64_t job = metrics.Begin(std::to_string(i));
    metrics.Publish(job, Snapshot(1));
    metrics.End(job, now);
  }
  EXPECT_EQ(metrics.Merged(now)->Of(Metric::kKernelLaunches).size(), JobMetrics::kMostEnded);
}

TEST(JobMetricsTest, ASeriesIsThereOnce) {
  JobMetrics metrics;
  MetricsSnapshot snapshot = Snapshot(1);
  snapshot.Add(Metric::kKernelLaunches, {{"UUID", "GPU-1"}}, 10);
  metrics.Publish(metrics.Begin("a"), std::move(snapshot));
  EXPECT_EQ(ByJob(*metrics.Merged(Clock::now()), Metric::kKernelLaunches),
            (std::map<std::string, double>{{"a", 11}}));
}

}  // namespace
}  // namespace utlz
