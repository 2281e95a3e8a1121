#include "collector/timeline/step_starts.h"

#include <gtest/gtest.h>

#include "collector/timeline/graph_launches.h"
#include "collector/timeline/step_marks.h"

namespace utlz {
namespace {

constexpr uint64_t kStepNs = 1000;

TEST(StepStartsTest, EveryStepIsKeptWhileThereIsRoom) {
  StepStarts starts;
  EXPECT_TRUE(starts.Steps().empty());
  for (const uint64_t start_ns : {3000, 1000, 2000}) starts.Add(start_ns);
  const auto steps = starts.Steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], std::make_pair(uint64_t{1000}, uint64_t{2000}));
  EXPECT_EQ(steps[1], std::make_pair(uint64_t{2000}, uint64_t{3000}));
}

TEST(StepStartsTest, StepsOfALongRunLieAllOverItAndAreSingleOnes) {
  StepStarts starts;
  constexpr uint64_t kSteps = 11 * StepStarts::kMost;
  for (uint64_t i = 0; i < kSteps; ++i) {
    starts.Add(i * kStepNs);
    ASSERT_LE(starts.kept(), StepStarts::kMost);
  }
  const auto steps = starts.Steps();
  ASSERT_GT(steps.size(), StepStarts::kMost / 8);
  EXPECT_EQ(steps.front().first, 0u);
  EXPECT_GT(steps.back().second, kSteps * kStepNs * 999 / 1000);
  for (size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(steps[i].second - steps[i].first, kStepNs);
    if (i == 0) continue;
    ASSERT_EQ(steps[i].first - steps[i - 1].first, steps[1].first - steps[0].first);
  }
}

TEST(StepStartsTest, GraphsShareTheRoom) {
  GraphLaunches graphs;
  constexpr uint32_t kGraphs = 40;
  for (uint32_t i = 0; i < 2 * GraphLaunches::kMostStarts; ++i) {
    const uint64_t start_ns = (i + 1) * kStepNs;
    const uint32_t variant = i % 2 == 0 ? 0 : 1 + i / 2 % kGraphs;
    EXPECT_TRUE(graphs.Begin(1, i + 1, variant, start_ns));
    graphs.AddTime(1, i + 1, 900);
  }
  const auto steps = graphs.StepsOfMainGraph(GraphLaunches::kMostStarts);
  ASSERT_GT(steps.size(), 1000u);
  for (const auto& [start_ns, end_ns] : steps) ASSERT_EQ(end_ns - start_ns, 2 * kStepNs);
  EXPECT_GT(steps.back().second, 2 * GraphLaunches::kMostStarts * kStepNs * 99 / 100);
}

TEST(StepStartsTest, MarksOfALongRunLieAllOverIt) {
  StepMarks marks;
  constexpr uint64_t kSteps = 5 * StepMarks::kMostMarks;
  for (uint64_t i = 0; i < kSteps; ++i) marks.Add(1, "step", i * kStepNs, i * kStepNs + 600);
  const auto steps = marks.Steps();
  ASSERT_GT(steps.size(), StepMarks::kMostMarks / 4);
  EXPECT_EQ(steps.front().first, 0u);
  EXPECT_GT(steps.back().second, kSteps * kStepNs * 999 / 1000);
  for (const auto& [start_ns, end_ns] : steps) ASSERT_EQ(end_ns - start_ns, 600u);
}

}  // namespace
}  // namespace utlz
