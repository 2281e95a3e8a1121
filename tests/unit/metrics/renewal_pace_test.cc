#include "collector/metrics/renewal_pace.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

constexpr uint64_t kStartNs = 1000 * kSecondNs;

// How often it was due in so many seconds, asked twice a second.
int Renewals(RenewalPace* pace, uint64_t from_s, uint64_t until_s, uint64_t cost_ns) {
  int renewals = 0;
  for (uint64_t now_ns = kStartNs + from_s * kSecondNs; now_ns < kStartNs + until_s * kSecondNs;
       now_ns += kSecondNs / 2) {
    if (!pace->Due(now_ns)) continue;
    pace->Renewed(now_ns, cost_ns);
    ++renewals;
  }
  return renewals;
}

TEST(RenewalPace, BeginsAtOnceAndOften) {
  RenewalPace pace;
  EXPECT_TRUE(pace.Due(kStartNs));
  EXPECT_EQ(Renewals(&pace, 0, 10, 20'000'000), 10) << "once a second";
}

TEST(RenewalPace, TakesAShareInTheLongRun) {
  RenewalPace pace;
  constexpr uint64_t kCostNs = 400'000'000;
  const int renewals = Renewals(&pace, 0, 10'000, kCostNs);
  const double share = (renewals * static_cast<double>(kCostNs) - 2e9) / 10'000e9;
  EXPECT_LE(share, RenewalPace::kShare);
  EXPECT_GE(renewals, 10'000 / 80);
}

TEST(RenewalPace, SavesNoMoreThanABeginning) {
  RenewalPace pace;
  Renewals(&pace, 0, 1, 1);
  EXPECT_LE(Renewals(&pace, 100'000, 100'010, 500'000'000), 3);
}

}  // namespace
}  // namespace utlz
