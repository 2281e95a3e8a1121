// Hundred hours of a job whose noise was recorded, and falls planted in it.
#include "bench/alarms/simulated_days.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::IsEmpty;

class SimulatedDaysTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pace = PaceOf(UTLZ_RECORDING);
    ASSERT_TRUE(pace.ok()) << pace.status();
    ASSERT_GE(pace->all.size(), 6u);
    pace_ = *std::move(pace);
  }

  RecordedPace pace_;
};

TEST_F(SimulatedDaysTest, NoAlarmInAHundredHours) {
  EXPECT_THAT(AlarmsInHours(pace_, 100, 7), IsEmpty());
}

TEST_F(SimulatedDaysTest, ATenthIsSeenWithinHalfAMinute) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto seconds = SecondsToAlarm(pace_, 0.1, seed);
    ASSERT_TRUE(seconds.has_value()) << seed;
    EXPECT_LE(*seconds, 30) << seed;
  }
}

}  // namespace
}  // namespace utlz
