#include "collector/counters/work_without_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace utlz {
namespace {

constexpr double kCycles = 7;

using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

Spans Pairs(const std::vector<WorkWithoutRecords::Span>& spans) {
  Spans pairs;
  for (const WorkWithoutRecords::Span& span : spans) pairs.emplace_back(span.start_ns, span.end_ns);
  return pairs;
}

// Samples of 10 from 100 to 200; in [130, 140) and [160, 170) nothing is active.
WorkWithoutRecords Sampled() {
  WorkWithoutRecords unseen;
  for (const uint64_t start : {100u, 110u, 120u, 140u, 150u, 170u, 180u, 190u}) {
    unseen.AddActiveSample(start, start + 10, kCycles);
  }
  return unseen;
}

TEST(WorkWithoutRecordsTest, IsWhatRanBeforeTheFirstRecordOfAWindow) {
  WorkWithoutRecords unseen = Sampled();
  unseen.TracingWentOn(1, 110);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 152, 152)), (Spans{{110, 130}, {140, 160}}));
  EXPECT_EQ(Pairs(unseen.Recorded(1, 180, 180)), Spans{}) << "what follows may be known work";
}

TEST(WorkWithoutRecordsTest, WithoutAPauseEverythingIsSeen) {
  WorkWithoutRecords unseen = Sampled();
  EXPECT_EQ(Pairs(unseen.Recorded(1, 150, 150)), Spans{});
  EXPECT_EQ(Pairs(unseen.NothingUntil(200)), Spans{});
}

// A window may be shorter than what the program had launched ahead.
TEST(WorkWithoutRecordsTest, GoesOnWhereNothingIsRecorded) {
  WorkWithoutRecords unseen = Sampled();
  unseen.TracingWentOn(1, 100);
  EXPECT_EQ(Pairs(unseen.NothingUntil(130)), (Spans{{100, 130}}));
  EXPECT_EQ(Pairs(unseen.NothingUntil(150)), (Spans{{140, 150}}));
  EXPECT_EQ(Pairs(unseen.Recorded(1, 175, 175)), (Spans{{150, 160}, {170, 180}}));
}

TEST(WorkWithoutRecordsTest, TheNextPauseBeginsAnew) {
  WorkWithoutRecords unseen = Sampled();
  unseen.TracingWentOn(1, 100);
  unseen.TracingWentOn(1, 180);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 190, 190)), (Spans{{180, 190}}));
}

// What one process does while the other's records are missing cannot be told from that.
TEST(WorkWithoutRecordsTest, IsNotToldOfSeveralProcesses) {
  WorkWithoutRecords unseen = Sampled();
  EXPECT_EQ(Pairs(unseen.Recorded(2, 90, 90)), Spans{});
  unseen.TracingWentOn(1, 100);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 150, 150)), Spans{});
  unseen.TracingWentOn(1, 160);
  EXPECT_EQ(Pairs(unseen.NothingUntil(200)), Spans{});
}

// Samples of a microsecond, in which something is always active.
WorkWithoutRecords AlwaysActiveUntil(uint64_t end_us) {
  WorkWithoutRecords work;
  for (uint64_t i = 0; i < end_us; ++i) work.AddActiveSample(1000 * i, 1000 * i + 1000, kCycles);
  return work;
}

TEST(WorkWithoutRecordsTest, IsWhatCuptiLeftOutBetweenTwoRecords) {
  WorkWithoutRecords work = AlwaysActiveUntil(300);
  EXPECT_EQ(Pairs(work.Recorded(1, 50'000, 60'000)), Spans{}) << "nobody knows what came before";
  EXPECT_EQ(Pairs(work.Recorded(1, 55'000, 58'000)), Spans{}) << "on another stream";
  EXPECT_EQ(Pairs(work.Recorded(1, 75'000, 80'000)), Spans{}) << "the clocks may differ so much";
  EXPECT_EQ(Pairs(work.Recorded(1, 200'000, 210'000)), (Spans{{90'000, 190'000}}));
  EXPECT_EQ(work.left_out_cycles(), 100 * kCycles);
}

TEST(WorkWithoutRecordsTest, EachSampleIsReturnedOnce) {
  WorkWithoutRecords work = AlwaysActiveUntil(300);
  work.Recorded(1, 50'000, 60'000);
  EXPECT_EQ(Pairs(work.NothingUntil(100'500)), (Spans{{70'000, 90'000}}));
  EXPECT_EQ(Pairs(work.NothingUntil(120'000)), (Spans{{90'000, 110'000}}));
  EXPECT_EQ(Pairs(work.Recorded(1, 200'000, 210'000)), (Spans{{110'000, 190'000}}));
  EXPECT_EQ(work.left_out_cycles(), 120 * kCycles);
}

TEST(WorkWithoutRecordsTest, WorkInFlightWasNotLeftOut) {
  WorkWithoutRecords work = AlwaysActiveUntil(300);
  work.Recorded(1, 10'000, 20'000);
  work.TracingWentOn(1, 100'000);
  EXPECT_EQ(Pairs(work.Recorded(1, 200'000, 210'000)), (Spans{{100'000, 200'000}}));
  EXPECT_EQ(work.left_out_cycles(), 0);
}

// A program whose records have ended is sampled on. Nobody may know yet how long the pause is.
TEST(WorkWithoutRecordsTest, WhatRanInAPauseWasNotLeftOut) {
  WorkWithoutRecords work = AlwaysActiveUntil(300);
  work.Recorded(1, 10'000, 20'000);
  work.NotTraced(25'000, 150'000);
  work.NotTraced(0, 5'000);
  EXPECT_EQ(Pairs(work.NothingUntil(150'000)), Spans{});
  work.NotTraced(25'000, 290'000);
  EXPECT_EQ(Pairs(work.NothingUntil(290'000)), Spans{});
  EXPECT_EQ(work.left_out_cycles(), 0);
}

TEST(WorkWithoutRecordsTest, KeepsABoundedNumberOfSamples) {
  WorkWithoutRecords unseen;
  unseen.TracingWentOn(1, 0);
  for (uint64_t i = 0; i < 2 * WorkWithoutRecords::kMaxSamples; ++i) {
    unseen.AddActiveSample(10 * i, 10 * i + 10, kCycles);
  }
  EXPECT_EQ(Pairs(unseen.Recorded(1, UINT64_MAX, UINT64_MAX)),
            (Spans{{10 * WorkWithoutRecords::kMaxSamples, 20 * WorkWithoutRecords::kMaxSamples}}));
}

}  // namespace
}  // namespace utlz
