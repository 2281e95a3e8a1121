#include "inject/tracing/window_pace.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

constexpr double kShareOfTime = 0.01;
constexpr double kCostOfWindowNs = 1e6;  // which is earned in 100 ms
constexpr double kEnoughNs = WindowPace::kAccountAtBeginNs;

// Begins windows 100 ms apart, and returns how long after the last the next may begin.
double WaitNs(int windows, double account_ns, double last_cost_ns = kCostOfWindowNs) {
  WindowPace pace;
  uint64_t now_ns = kSecondNs;
  double charged_ns = 0;
  pace.Begin(now_ns, charged_ns, account_ns);
  for (int window = 0; window < windows; ++window) {
    now_ns += 100 * kMillisecondNs;
    charged_ns += window + 1 < windows ? kCostOfWindowNs : last_cost_ns;
    pace.Begin(now_ns, charged_ns, account_ns);
  }
  EXPECT_TRUE(pace.known());
  return static_cast<double>(pace.NextNs(kShareOfTime) - now_ns);
}

TEST(WindowPaceTest, IsUnknownAtFirst) {
  WindowPace pace;
  EXPECT_FALSE(pace.known());
  for (int window = 0; window < 4; ++window) {
    pace.Begin(kSecondNs, kCostOfWindowNs * window, kEnoughNs);
    EXPECT_FALSE(pace.known()) << window;
  }
}

TEST(WindowPaceTest, IsWhatTheMeanWindowCosts) {
  for (const int windows : {4, 50, 500}) EXPECT_NEAR(WaitNs(windows, kEnoughNs), 100e6, 1);
}

TEST(WindowPaceTest, HardlyChangesWithOneWindow) {
  EXPECT_NEAR(WaitNs(100, kEnoughNs, 5 * kCostOfWindowNs), 100e6, 7e6);
  EXPECT_GT(WaitNs(100, kEnoughNs, 5 * kCostOfWindowNs), 101e6);
}

TEST(WindowPaceTest, PaysBackWhatTheAccountLacksAndSpendsWhatItHasBeyond) {
  EXPECT_NEAR(WaitNs(200, kEnoughNs - WindowPace::kLackForHalfPaceNs), 200e6, 1e4);
  EXPECT_NEAR(WaitNs(200, kEnoughNs + WindowPace::kSurplusForFastestNs * 2 / 3), 50e6, 1e4);
  EXPECT_GT(WaitNs(200, 20 * kEnoughNs), 0);
}

}  // namespace
}  // namespace utlz::agent
