#include "collector/session/counter_arbiter.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

using std::chrono::seconds;
using Order = CounterArbiter::Order;

constexpr CounterArbiter::Clock::time_point kBegin{};

// The order given in each second, in which launches are seen or not, as letters; '.' = none.
std::string Orders(CounterArbiter* calibration, int from, int to, bool working = false) {
  std::string letters;
  for (int second = from; second < to; ++second) {
    if (working) calibration->LaunchesSeen(kBegin + seconds(second));
    switch (calibration->Next(kBegin + seconds(second))) {
      case Order::kNone:
        letters += '.';
        break;
      case Order::kYieldSampler:
        letters += 'Y';
        break;
      case Order::kAllowRanges:
        letters += 'A';
        break;
      case Order::kForbidRangesAndResumeSampler:
        letters += 'R';
        break;
    }
  }
  return letters;
}

TEST(CounterArbiter, WaitsUntilItsCostIsWithinTheBudget) {
  CounterArbiter calibration(CountersMode::kAuto, 10'000);
  calibration.LaunchesSeen(kBegin);
  EXPECT_EQ(Orders(&calibration, 0, 100), std::string(100, '.'));
  EXPECT_EQ(Orders(&calibration, 100, 103), "YA.");
  calibration.RangesSeen(kBegin + seconds(103));
  EXPECT_EQ(Orders(&calibration, 104, 108), "R...");
}

TEST(CounterArbiter, BeginsAtOnceWhereOnlyRangesAreWanted) {
  CounterArbiter calibration(CountersMode::kRange, 10'000);
  EXPECT_EQ(Orders(&calibration, 0, 5), ".....") << "nothing was launched yet";
  calibration.LaunchesSeen(kBegin + seconds(5));
  EXPECT_EQ(Orders(&calibration, 5, 8), "YA.");
}

TEST(CounterArbiter, TakesTheCountersBackWhereNoAgentAnswers) {
  CounterArbiter calibration(CountersMode::kAuto, 0);
  EXPECT_EQ(Orders(&calibration, 0, 4, true), "...Y");
  EXPECT_EQ(Orders(&calibration, 4, 20), "A.........R.....");
}

// A program that goes on starting for seconds after its first launch, and then works: the sampler
// has seen nothing of it yet.
TEST(CounterArbiter, WaitsForThreeSecondsOfWorkWhereThereIsNoBudget) {
  CounterArbiter calibration(CountersMode::kAuto, 0);
  EXPECT_EQ(Orders(&calibration, 0, 1, true), ".");
  EXPECT_EQ(Orders(&calibration, 1, 10), ".........");
  EXPECT_EQ(Orders(&calibration, 10, 14, true), "...Y");
}

TEST(CounterArbiter, NeverHappensWhereRangesWereNotAskedFor) {
  for (CountersMode mode : {CountersMode::kSample, CountersMode::kNone}) {
    CounterArbiter calibration(mode, 0);
    calibration.LaunchesSeen(kBegin);
    EXPECT_EQ(Orders(&calibration, 0, 300), std::string(300, '.'));
  }
}

}  // namespace
}  // namespace utlz
