#include "inject/record/operation_count.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

TEST(OperationCount, CountsRecordsAndTheNumbersThatPassed) {
  OperationCount count;
  EXPECT_EQ(count.numbered(), 0u);
  for (uint32_t number = 70; number < 80; ++number) count.Add(number);
  EXPECT_EQ(count.recorded(), 10u);
  EXPECT_EQ(count.numbered(), 10u);
  for (uint32_t number = 1080; number < 1085; ++number) count.Add(number);
  EXPECT_EQ(count.recorded(), 15u);
  EXPECT_EQ(count.numbered(), 1015u);
}

TEST(OperationCount, RecordsOfSeveralStreamsComeInAnyOrder) {
  OperationCount count;
  for (const uint32_t number : {5, 9, 6, 7, 10, 8}) count.Add(number);
  EXPECT_EQ(count.recorded(), 6u);
  EXPECT_EQ(count.numbered(), 6u);
}

TEST(OperationCount, WhatPassesInAWindowIsInNoGap) {
  OperationCount count;
  for (uint32_t number = 1; number <= 100; ++number) count.Add(number);
  for (uint32_t number = 601; number <= 700; ++number) count.Add(number);  // a capture took 500
  EXPECT_EQ(count.in_gaps(), 0u) << "tracing was on";
  count.GapEnded();
  for (const uint32_t late : {701, 702}) count.Add(late);
  for (uint32_t number = 10'703; number <= 10'750; ++number) count.Add(number);
  for (uint32_t number = 10'760; number <= 10'800; ++number) count.Add(number);  // another, of nine
  EXPECT_EQ(count.in_gaps(), 10'000u);
  count.GapEnded();
  EXPECT_EQ(count.in_gaps(), 10'000u) << "nothing came yet";
  count.Add(10'900);
  EXPECT_EQ(count.in_gaps(), 10'099u);
  EXPECT_EQ(count.numbered() - count.in_gaps() - count.recorded(), 500u + 9u);
}

TEST(OperationCount, AReplayThatIsRecordedInTheMiddleOfAGapDoesNotEndIt) {
  OperationCount count;
  for (uint32_t number = 1; number <= 100; ++number) count.Add(number);
  count.GapBegan();
  count.Add(101);  // late
  count.Add(791);
  EXPECT_EQ(count.in_gaps(), 0u) << "it is not over";
  EXPECT_EQ(count.numbered(), count.recorded());
  count.GapEnded();
  EXPECT_EQ(count.in_gaps(), 689u);
  for (uint32_t number = 1480; number <= 1509; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 689u + 688u);
  EXPECT_EQ(count.numbered(), count.recorded() + count.in_gaps());
  count.GapBegan();
  count.GapEnded();
  for (uint32_t number = 1610; number <= 1640; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 689u + 688u + 100u) << "the next gap is its own";
}

TEST(OperationCount, RecordsOfAnotherStreamThatComeLaterWereInNoGap) {
  OperationCount count;
  for (uint32_t number = 1; number <= 100; ++number) count.Add(number);
  count.GapBegan();
  for (uint32_t number = 131; number <= 140; ++number) count.Add(number);  // late, of one stream
  for (uint32_t number = 101; number <= 130; ++number) count.Add(number);  // later, of another
  EXPECT_EQ(count.numbered(), 140u);
  count.GapEnded();
  EXPECT_EQ(count.in_gaps(), 0u);
  for (uint32_t number = 1200; number <= 1300; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 1059u);
  for (uint32_t number = 1150; number < 1200; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 1009u);
  EXPECT_EQ(count.numbered(), count.recorded() + count.in_gaps());
  count.GapBegan();
  count.Add(1500);  // a stray one
  count.GapEnded();
  for (uint32_t number = 1301; number <= 1310; ++number) count.Add(number);  // very late
  EXPECT_EQ(count.in_gaps(), 1009u + 189u);
}

TEST(OperationCount, NumbersWrapAround) {
  OperationCount count;
  count.Add(UINT32_MAX - 1);
  count.Add(UINT32_MAX);
  count.Add(0);
  count.Add(1);
  EXPECT_EQ(count.recorded(), 4u);
  EXPECT_EQ(count.numbered(), 4u);
}

TEST(OperationCount, ALaunchOfAGraphIsOneOfWhateverNodes) {
  OperationCount count;
  for (uint32_t launch = 3; launch < 6; ++launch) {
    for (int node = 0; node < 100; ++node) count.AddNode(launch);
  }
  EXPECT_EQ(count.recorded(), 3u);
  EXPECT_EQ(count.numbered(), 3u);
}

TEST(OperationCount, TheSameNumberAgainIsNoNewOne) {
  OperationCount count;
  for (const uint32_t number : {5, 6, 6, 5}) count.Add(number);
  EXPECT_EQ(count.recorded(), 4u);
  EXPECT_EQ(count.numbered(), 2u);
}

TEST(OperationCount, NumbersOfGraphsWrapAround) {
  for (const uint32_t first : {uint32_t{UINT32_MAX - 1}, uint32_t{0x80000001}}) {
    OperationCount count;
    for (uint32_t launch = 0; launch < 4; ++launch) count.AddNode(first + launch);
    EXPECT_EQ(count.recorded(), 4u) << first;
    EXPECT_EQ(count.numbered(), 4u) << first;
  }
}

TEST(OperationCount, GraphsThatRunAtTheSameTimeAreCountedOnce) {
  OperationCount count;
  for (const uint32_t launch : {8, 9, 8, 9, 9, 8, 9}) count.AddNode(launch);
  count.Add(10);
  count.AddNode(9);
  EXPECT_EQ(count.recorded(), 3u);
  EXPECT_EQ(count.numbered(), 3u);
}

TEST(OperationCount, WatchedCallsInAGapAreNoOperations) {
  OperationCount count;
  count.AddCall(7);  // before anything was recorded
  for (uint32_t number = 10; number <= 20; ++number) count.Add(number);
  count.GapBegan();
  for (const uint32_t call : {40, 45, 2'000}) count.AddCall(call);
  count.GapEnded();
  for (uint32_t number = 121; number <= 130; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 98u) << "two of the hundred launched nothing";
  count.AddCall(99);  // its record comes late
  EXPECT_EQ(count.in_gaps(), 97u);
  count.GapBegan();
  count.GapEnded();
  for (uint32_t number = 2'131; number <= 2'140; ++number) count.Add(number);
  EXPECT_EQ(count.in_gaps(), 97u + 1'999u);
  EXPECT_EQ(count.recorded(), 31u);
}

TEST(OperationCount, MoreCallsThanCanBeKeptAreCountedAsOperations) {
  OperationCount count;
  count.Add(1);
  count.GapBegan();
  for (uint32_t call = 2; call <= 1'001; ++call) count.AddCall(call);
  count.GapEnded();
  for (uint32_t number = 2'002; number <= 2'020; ++number) count.Add(number);
  EXPECT_LT(count.in_gaps(), 2'000u);
  EXPECT_GE(count.in_gaps(), 1'000u);
}

}  // namespace
}  // namespace utlz::agent
