#include "collector/sampler/power_account.h"

#include <gtest/gtest.h>

#include "proto/tracing_cost.h"
#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

constexpr uint32_t kSharePpm = 2500;
constexpr uint64_t kReadingNs = 200 * kMillisecondNs;

class PowerAccountTest : public testing::Test {
 protected:
  // NVML is read all the time; `set_`: whether counters are set.
  void Pass(uint64_t time_ns, bool limited) {
    for (const uint64_t end_ns = now_ns_ + time_ns; now_ns_ < end_ns;) {
      now_ns_ += kReadingNs;
      limited ? account_.Limited(now_ns_) : account_.Advance(now_ns_);
    }
  }

  uint64_t now_ns_ = 5 * kSecondNs;
  PowerAccount account_{kSharePpm, now_ns_};
};

TEST_F(PowerAccountTest, CountersThatAreSetCostWhilePowerLimitsTheClock) {
  account_.Set(now_ns_);
  EXPECT_EQ(account_.lost_ns(), 0) << "power does not limit the clock yet";
  Pass(10 * kSecondNs, false);
  EXPECT_EQ(account_.lost_ns(), 0);
  Pass(10 * kSecondNs, true);
  EXPECT_NEAR(account_.lost_ns(), kSetCountersSlowdown * 10e9, kSetCountersSlowdown * 0.3e9);
  const double lost_ns = account_.lost_ns();
  Pass(10 * kSecondNs, false);
  EXPECT_NEAR(account_.lost_ns(), lost_ns + kSetCountersSlowdown * 2e9, 1)
      << "for as long as a limit holds that was seen";
}

TEST_F(PowerAccountTest, CountersThatAreGivenUpCostNothing) {
  account_.Set(now_ns_);
  account_.GivenUp(now_ns_);
  Pass(10 * kSecondNs, true);
  EXPECT_EQ(account_.lost_ns(), 0);
  account_.Set(now_ns_);
  EXPECT_EQ(account_.lost_ns(), PowerAccount::kSettingLossNs) << "to set them holds programs up";
}

TEST_F(PowerAccountTest, TheCreditIsForTheFirstSecondsOfSteps) {
  account_.Set(now_ns_);
  Pass(2 * kSecondNs, true);
  EXPECT_FALSE(account_.IsToGiveUp(now_ns_, now_ns_, 0));
  Pass(2 * kSecondNs, true);
  EXPECT_TRUE(account_.IsToGiveUp(now_ns_, now_ns_, 0));
}

TEST_F(PowerAccountTest, TheCreditIsAnAdvance) {
  account_.Set(now_ns_);
  Pass(7 * kSecondNs / 5, true);
  account_.GivenUp(now_ns_);
  // It misses some 4 ms, and earns 1.25 ms a second.
  const uint64_t soon_ns = account_.AffordsAtNs(now_ns_);
  EXPECT_GT(soon_ns, now_ns_ + 2 * kSecondNs);
  EXPECT_LT(soon_ns, now_ns_ + 4 * kSecondNs);
  account_.Set(now_ns_);
  Pass(3 * kSecondNs / 5, true);
  account_.GivenUp(now_ns_);
  // It misses some 15 ms, and earns 2.5 ms a second from ten seconds after the limit's begin on.
  const uint64_t affords_ns = account_.AffordsAtNs(now_ns_);
  EXPECT_GT(affords_ns, now_ns_ + 8 * kSecondNs);
  EXPECT_LT(affords_ns, now_ns_ + 11 * kSecondNs);
  Pass(affords_ns - now_ns_ - 2 * kReadingNs, true);
  EXPECT_GT(account_.AffordsAtNs(now_ns_), now_ns_);
  Pass(4 * kReadingNs, true);
  EXPECT_LE(account_.AffordsAtNs(now_ns_), now_ns_);
}

TEST_F(PowerAccountTest, TheAdvanceBeginsWithTheFirstLimit) {
  Pass(60 * kSecondNs, false);
  account_.Set(now_ns_);
  Pass(3 * kSecondNs, true);
  account_.GivenUp(now_ns_);
  EXPECT_GT(account_.AffordsAtNs(now_ns_), now_ns_ + 9 * kSecondNs);
}

// Sets counters when it may and gives them up when it must, for an hour.
double LostShareOfAnHour(uint32_t share_ppm) {
  uint64_t now_ns = 0;
  PowerAccount account(share_ppm, now_ns);
  bool set = false;
  while (now_ns < 3600 * kSecondNs) {
    account.Limited(now_ns);
    if (!set && account.AffordsAtNs(now_ns) <= now_ns) {
      account.Set(now_ns);
      set = true;
    } else if (set && account.IsToGiveUp(now_ns, now_ns, 0)) {
      account.GivenUp(now_ns);
      set = false;
    }
    now_ns += kReadingNs;
  }
  return account.lost_ns() / static_cast<double>(now_ns);
}

TEST_F(PowerAccountTest, KeepsItsShareOverALongRun) {
  for (const uint32_t share_ppm : {250u, 2500u, 12'500u}) {
    const double share = share_ppm / 1e6;
    EXPECT_LT(LostShareOfAnHour(share_ppm), 1.05 * share) << share_ppm;
    if (share < kSetCountersSlowdown) {
      EXPECT_GT(LostShareOfAnHour(share_ppm), 0.8 * share) << share_ppm;
    }
  }
}

TEST_F(PowerAccountTest, CountersThatAreNotUsedSoonAreGivenUp) {
  const auto is_to_give_up = [this](uint64_t in_ns, uint64_t waits_ns) {
    return account_.IsToGiveUp(now_ns_, now_ns_ + in_ns, now_ns_ - waits_ns);
  };
  account_.Set(now_ns_);
  Pass(kSecondNs, true);
  EXPECT_FALSE(is_to_give_up(60 * kSecondNs, 3 * kSecondNs)) << "the program only begins to work";
  Pass(7 * kReadingNs, true);
  EXPECT_FALSE(is_to_give_up(kSecondNs, kSecondNs));
  EXPECT_TRUE(is_to_give_up(3 * kSecondNs, kSecondNs));
  EXPECT_TRUE(is_to_give_up(0, 3 * kSecondNs));
  EXPECT_FALSE(account_.IsToGiveUp(now_ns_, now_ns_, 0)) << "a window is planned";
}

TEST_F(PowerAccountTest, NamesTheTimeFromWhichOnItAffordsToSetThem) {
  account_.Set(now_ns_);
  Pass(30 * kSecondNs, true);
  account_.GivenUp(now_ns_);
  const uint64_t affords_ns = account_.AffordsAtNs(now_ns_);
  EXPECT_GT(affords_ns, now_ns_ + 15 * kSecondNs);
  Pass(affords_ns - now_ns_ - kSecondNs, true);
  EXPECT_GT(account_.AffordsAtNs(now_ns_), now_ns_);
  Pass(2 * kSecondNs, true);
  EXPECT_LE(account_.AffordsAtNs(now_ns_), now_ns_);
  account_.Set(now_ns_);
  EXPECT_FALSE(account_.IsToGiveUp(now_ns_, now_ns_, 0)) << "for a second of windows";
}

TEST_F(PowerAccountTest, WherePowerLimitsNothingCountersMayBeSetAtOnce) {
  account_.Set(now_ns_);
  Pass(60 * kSecondNs, true);
  account_.GivenUp(now_ns_);
  EXPECT_GT(account_.AffordsAtNs(now_ns_), now_ns_);
  Pass(3 * kSecondNs, false);
  EXPECT_LE(account_.AffordsAtNs(now_ns_), now_ns_);
}

TEST_F(PowerAccountTest, DebtsDoNotGrowWithoutEnd) {
  account_.Set(now_ns_);
  Pass(3600 * kSecondNs, true);
  EXPECT_LT(account_.AffordsAtNs(now_ns_), now_ns_ + 120 * kSecondNs);
}

TEST_F(PowerAccountTest, WithoutALimitCostsAreCountedAlone) {
  PowerAccount account(0, 0);
  account.Set(0);
  account.Limited(kSecondNs);
  account.Limited(2 * kSecondNs);
  EXPECT_FALSE(account.IsToGiveUp(2 * kSecondNs, 0, 1));
  EXPECT_NEAR(account.lost_ns(), kSetCountersSlowdown * 1e9, 1);
  EXPECT_EQ(account.AffordsAtNs(2 * kSecondNs), 2 * kSecondNs);
}

TEST_F(PowerAccountTest, TimeThatGoesBackIsNotCharged) {
  account_.Set(now_ns_);
  account_.Limited(now_ns_);
  account_.Advance(now_ns_ - kSecondNs);
  EXPECT_EQ(account_.lost_ns(), 0);
}

}  // namespace
}  // namespace utlz
