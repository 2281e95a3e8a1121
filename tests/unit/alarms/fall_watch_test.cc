#include "collector/alarms/fall_watch.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

// A job with a noisy rate, reported once a second on a clock of its own.
class Job {
 public:
  explicit Job(double scatter) : scatter_(scatter) {}

  void Run(int seconds, double rate, FallWatch* watch) {
    for (int i = 0; i < seconds; ++i) {
      now_ns_ += kSecondNs;
      amount_ += rate * std::exp(scatter_ * normal_(random_));
      watch->Add(now_ns_, amount_);
    }
  }
  // Seconds until a fall is seen; nothing within `limit`.
  std::optional<int> SecondsToFall(int limit, double rate, FallWatch* watch) {
    for (int second = 1; second <= limit; ++second) {
      Run(1, rate, watch);
      if (watch->fall().has_value()) return second;
    }
    return std::nullopt;
  }
  uint64_t now_ns() const { return now_ns_; }

 private:
  double scatter_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
  uint64_t now_ns_ = 1'000 * kSecondNs;
  double amount_ = 0;
};

TEST(FallWatch, SeesATenthWithinHalfAMinute) {
  for (const double scatter : {0.0, 0.01, 0.03}) {
    FallWatch watch;
    Job job(scatter);
    job.Run(303, 0.4, &watch);
    ASSERT_FALSE(watch.fall().has_value());
    const uint64_t fell_ns = job.now_ns();
    const auto seconds = job.SecondsToFall(30, 0.36, &watch);
    ASSERT_TRUE(seconds.has_value()) << scatter;
    EXPECT_NEAR(watch.fall()->before, 0.4, 0.01);
    EXPECT_NEAR(watch.fall()->now, 0.36, 0.01);
    EXPECT_NEAR(static_cast<double>(watch.fall()->since_ns), static_cast<double>(fell_ns), 6e9);
  }
}

TEST(FallWatch, OneThirdOfTheSlackIsNoFall) {
  FallWatch watch;
  Job job(0.01);
  job.Run(300, 0.4, &watch);
  EXPECT_FALSE(job.SecondsToFall(1200, 0.395, &watch).has_value());
}

TEST(FallWatch, APauseIsNoFall) {
  FallWatch watch;
  Job job(0.01);
  job.Run(300, 0.4, &watch);
  EXPECT_FALSE(job.SecondsToFall(5, 0.0, &watch).has_value());
  EXPECT_FALSE(job.SecondsToFall(60, 0.4, &watch).has_value());
}

TEST(FallWatch, PausesThatCameBeforeAreThePast) {
  FallWatch watch;
  Job job(0.01);
  job.Run(300, 0.4, &watch);
  EXPECT_TRUE(job.SecondsToFall(40, 0.1, &watch).has_value()) << "nobody knows it yet";
  job.Run(20, 0.1, &watch);
  job.Run(300, 0.4, &watch);
  EXPECT_FALSE(watch.fall().has_value());
  EXPECT_FALSE(job.SecondsToFall(30, 0.1, &watch).has_value());
  EXPECT_TRUE(job.SecondsToFall(60, 0.1, &watch).has_value()) << "a longer one is news";
}

TEST(FallWatch, EndsWhereTheRateComesBack) {
  FallWatch watch;
  Job job(0.01);
  job.Run(300, 0.4, &watch);
  ASSERT_TRUE(job.SecondsToFall(30, 0.3, &watch).has_value());
  job.Run(60, 0.3, &watch);
  EXPECT_TRUE(watch.fall().has_value());
  job.Run(40, 0.4, &watch);
  EXPECT_FALSE(watch.fall().has_value());
}

TEST(FallWatch, WhatStaysIsThePast) {
  FallWatch watch;
  Job job(0.01);
  job.Run(300, 0.4, &watch);
  job.Run(700, 0.3, &watch);
  EXPECT_FALSE(watch.fall().has_value());
  EXPECT_TRUE(job.SecondsToFall(30, 0.25, &watch).has_value());
}

TEST(FallWatch, ARiseIsThePastAfterAMinute) {
  FallWatch watch;
  Job job(0.01);
  job.Run(1200, 0.3, &watch);
  job.Run(70, 0.4, &watch);
  EXPECT_TRUE(job.SecondsToFall(30, 0.36, &watch).has_value());
}

TEST(FallWatch, KnowsNoPastInTheFirstMinute) {
  FallWatch watch;
  Job job(0.01);
  job.Run(30, 0.4, &watch);
  EXPECT_FALSE(job.SecondsToFall(25, 0.2, &watch).has_value());
}

TEST(FallWatch, AClockThatIsSetBackIsNoFall) {
  FallWatch watch;
  double amount = 0;
  for (uint64_t second = 10'000; second < 10'300; ++second) watch.Add(second * kSecondNs, ++amount);
  for (uint64_t second = 100; second < 400; ++second) {
    watch.Add(second * kSecondNs, ++amount);
    EXPECT_FALSE(watch.fall().has_value());
  }
}

TEST(FallWatch, WholePiecesMakeLongerBlocks) {
  FallWatch watch(3);
  // A step takes 4 s: a block of 5 s would hold one, or two.
  for (uint64_t second = 1; second < 600; ++second) {
    watch.Add(second * kSecondNs, static_cast<double>(second / 4));
    ASSERT_FALSE(watch.fall().has_value()) << second;
  }
}

}  // namespace
}  // namespace utlz
