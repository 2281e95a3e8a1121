#include "collector/counters/in_flight_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace utlz {
namespace {

using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

Spans Pairs(const std::vector<InFlightWork::Span>& spans) {
  Spans pairs;
  for (const InFlightWork::Span& span : spans) pairs.emplace_back(span.start_ns, span.end_ns);
  return pairs;
}

// Samples of 10 from 100 to 200; in [130, 140) and [160, 170) nothing is active.
InFlightWork Sampled() {
  InFlightWork unseen;
  for (const uint64_t start : {100u, 110u, 120u, 140u, 150u, 170u, 180u, 190u}) {
    unseen.AddActiveSample(start, start + 10);
  }
  return unseen;
}

TEST(InFlightWorkTest, IsWhatRanBeforeTheFirstRecordOfAWindow) {
  InFlightWork unseen = Sampled();
  unseen.TracingWentOn(1, 110);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 152)), (Spans{{110, 130}, {140, 160}}));
  EXPECT_EQ(Pairs(unseen.Recorded(1, 180)), Spans{}) << "what follows may be known work";
}

TEST(InFlightWorkTest, WithoutAPauseEverythingIsSeen) {
  InFlightWork unseen = Sampled();
  EXPECT_EQ(Pairs(unseen.Recorded(1, 150)), Spans{});
  EXPECT_EQ(Pairs(unseen.NothingUntil(200)), Spans{});
}

// A window may be shorter than what the program had launched ahead.
TEST(InFlightWorkTest, GoesOnWhereNothingIsRecorded) {
  InFlightWork unseen = Sampled();
  unseen.TracingWentOn(1, 100);
  EXPECT_EQ(Pairs(unseen.NothingUntil(130)), (Spans{{100, 130}}));
  EXPECT_EQ(Pairs(unseen.NothingUntil(150)), (Spans{{140, 150}}));
  EXPECT_EQ(Pairs(unseen.Recorded(1, 175)), (Spans{{150, 160}, {170, 180}}));
}

TEST(InFlightWorkTest, TheNextPauseBeginsAnew) {
  InFlightWork unseen = Sampled();
  unseen.TracingWentOn(1, 100);
  unseen.TracingWentOn(1, 180);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 190)), (Spans{{180, 190}}));
}

// What one process does while the other's records are missing cannot be told from that.
TEST(InFlightWorkTest, IsNotToldOfSeveralProcesses) {
  InFlightWork unseen = Sampled();
  EXPECT_EQ(Pairs(unseen.Recorded(2, 90)), Spans{});
  unseen.TracingWentOn(1, 100);
  EXPECT_EQ(Pairs(unseen.Recorded(1, 150)), Spans{});
  unseen.TracingWentOn(1, 160);
  EXPECT_EQ(Pairs(unseen.NothingUntil(200)), Spans{});
}

TEST(InFlightWorkTest, KeepsABoundedNumberOfSamples) {
  InFlightWork unseen;
  unseen.TracingWentOn(1, 0);
  for (uint64_t i = 0; i < 2 * InFlightWork::kMaxSamples; ++i) {
    unseen.AddActiveSample(10 * i, 10 * i + 10);
  }
  EXPECT_EQ(Pairs(unseen.Recorded(1, UINT64_MAX)),
            (Spans{{10 * InFlightWork::kMaxSamples, 20 * InFlightWork::kMaxSamples}}));
}

}  // namespace
}  // namespace utlz
