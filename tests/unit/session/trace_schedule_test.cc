#include "collector/session/trace_schedule.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

using std::chrono::milliseconds;

constexpr TraceSchedule::Clock::time_point kStart{std::chrono::hours(7)};

TEST(TraceSchedule, TracesFromTheStartAndForeverWhereNothingIsAsked) {
  const TraceSchedule schedule(kStart, milliseconds(0), std::nullopt);
  EXPECT_EQ(schedule.StateAt(kStart), AgentState::kTracing);
  EXPECT_EQ(schedule.NextChange(kStart), std::nullopt);
}

TEST(TraceSchedule, TracesInsideItsWindowOnly) {
  const TraceSchedule schedule(kStart, milliseconds(10), milliseconds(5));
  EXPECT_EQ(schedule.StateAt(kStart), AgentState::kInactive);
  EXPECT_EQ(schedule.NextChange(kStart), kStart + milliseconds(10));
  EXPECT_EQ(schedule.StateAt(kStart + milliseconds(10)), AgentState::kTracing);
  EXPECT_EQ(schedule.NextChange(kStart + milliseconds(10)), kStart + milliseconds(15));
  EXPECT_EQ(schedule.StateAt(kStart + milliseconds(15)), AgentState::kInactive);
  EXPECT_EQ(schedule.NextChange(kStart + milliseconds(15)), std::nullopt);
}

}  // namespace
}  // namespace utlz
