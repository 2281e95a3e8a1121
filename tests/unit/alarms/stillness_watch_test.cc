#include "collector/alarms/stillness_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StillnessWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    readings_.now_ns = 10'000 * kSecondNs;
    for (uint32_t rank = 0; rank < 4; ++rank) {
      readings_.devices.push_back({.uuid = "GPU-" + std::to_string(rank), .busy = 0.95});
      readings_.processes.push_back({.source = rank + 1,
                                     .pid = 100 + rank,
                                     .rank = rank,
                                     .device = rank,
                                     .last_work_ns = readings_.now_ns,
                                     .held_since_ns = readings_.now_ns - 100 * kSecondNs,
                                     .next_collective = "AllReduce"});
    }
  }

  // All but `still` work on; nobody where it is 4.
  Conditions Pass(uint64_t seconds, bool work) {
    Conditions conditions;
    for (uint64_t i = 0; i < seconds; ++i) {
      readings_.now_ns += kSecondNs;
      if (work) {
        for (ProcessReading& process : readings_.processes) process.last_work_ns = readings_.now_ns;
      }
      conditions = watch_.Look(readings_);
    }
    return conditions;
  }

  Readings readings_;
  StillnessWatch watch_;
};

TEST_F(StillnessWatchTest, WorkIsNoHang) { EXPECT_THAT(Pass(600, true), IsEmpty()); }

TEST_F(StillnessWatchTest, NamesTheCollectiveAndWhoDoesNotCome) {
  EXPECT_THAT(Pass(100, true), IsEmpty());
  readings_.devices[2].busy = 0;
  EXPECT_THAT(Pass(50, false), IsEmpty());
  const Conditions conditions = Pass(30, false);
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_EQ(conditions[0].kind, AlarmKind::kCollectiveHangs);
  EXPECT_EQ(conditions[0].collective, "AllReduce");
  EXPECT_EQ(conditions[0].rank, 2u);
  EXPECT_THAT(conditions[0].text, HasSubstr("ranks 0, 1, 3 wait in"));
  EXPECT_THAT(conditions[0].text, HasSubstr("AllReduce, and rank 2 does not come to it"));
}

TEST_F(StillnessWatchTest, AllOfThemMayWait) {
  Pass(10, true);
  const Conditions conditions = Pass(80, false);
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_FALSE(conditions[0].rank.has_value());
}

TEST_F(StillnessWatchTest, OneThatWorksIsNoHang) {
  Pass(10, true);
  for (int i = 0; i < 100; ++i) {
    readings_.processes[3].last_work_ns = readings_.now_ns;
    EXPECT_THAT(Pass(1, false), IsEmpty());
  }
}

TEST_F(StillnessWatchTest, WithoutACollectiveItIsNoHang) {
  for (ProcessReading& process : readings_.processes) process.next_collective.clear();
  Pass(10, true);
  EXPECT_THAT(Pass(200, false), IsEmpty());
}

TEST_F(StillnessWatchTest, PausesThatCameBeforeAreThePast) {
  Pass(10, true);
  Pass(90, false);
  Pass(10, true);
  EXPECT_THAT(Pass(200, false), IsEmpty());
  EXPECT_THAT(Pass(100, false), SizeIs(1));
}

TEST_F(StillnessWatchTest, AGpuThatIsHeldAndNotUsed) {
  Pass(10, true);
  readings_.devices[1].busy = 0.0;
  for (size_t rank : {0, 2, 3}) readings_.devices[rank].busy = 0.5;
  EXPECT_THAT(Pass(290, false), IsEmpty());
  const Conditions conditions = Pass(20, false);
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_EQ(conditions[0].kind, AlarmKind::kGpuHeldIdle);
  EXPECT_EQ(conditions[0].device_uuid, "GPU-1");
  EXPECT_EQ(conditions[0].pid, 101u);
}

TEST_F(StillnessWatchTest, WhatNvmlDoesNotTellIsNotIdle) {
  for (DeviceReading& device : readings_.devices) device.busy.reset();
  Pass(10, true);
  EXPECT_THAT(Pass(1000, false), IsEmpty());
}

TEST_F(StillnessWatchTest, AProcessThatNeverLaunchedHoldsItsGpuToo) {
  readings_.processes.resize(1);
  readings_.processes[0].last_work_ns = 0;
  readings_.devices[0].busy = 0.0;
  EXPECT_THAT(Pass(190, false), IsEmpty());
  EXPECT_THAT(Pass(20, false), SizeIs(1));
}

}  // namespace
}  // namespace utlz
