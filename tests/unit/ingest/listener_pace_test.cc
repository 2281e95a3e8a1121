#include "proto/listener_pace.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr uint64_t kNow = 1'000'000'000'000;
constexpr uint64_t kPause = ListenerPace::kPauseNs;

TEST(ListenerPaceTest, PausesForASecondAfterSixteenRefusalsInOne) {
  ListenerPace pace;
  for (uint32_t i = 0; i < ListenerPace::kMostRefusals; ++i) {
    EXPECT_TRUE(pace.MayListen(kNow + i));
    pace.Refused(kNow + i);
  }
  const uint64_t last_ns = kNow + ListenerPace::kMostRefusals - 1;
  EXPECT_FALSE(pace.MayListen(last_ns));
  EXPECT_FALSE(pace.MayListen(last_ns + kPause - 1));
  EXPECT_TRUE(pace.MayListen(last_ns + kPause));
  EXPECT_EQ(pace.paused_until_ns(), last_ns + kPause);
}

TEST(ListenerPaceTest, FewRefusalsASecondNeedNoPause) {
  ListenerPace pace;
  for (uint64_t i = 0; i < 1000; ++i) {
    pace.Refused(kNow + i * (kPause / 10));
    EXPECT_TRUE(pace.MayListen(kNow + i * (kPause / 10))) << i;
  }
}

TEST(ListenerPaceTest, PausesWhereNothingCanBeAccepted) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EINVAL}) {
    ListenerPace pace;
    EXPECT_FALSE(pace.Failed(error, kNow));
    EXPECT_FALSE(pace.MayListen(kNow)) << error;
  }
  for (const int error : {EAGAIN, EINTR, ECONNABORTED}) {
    ListenerPace pace;
    EXPECT_EQ(pace.Failed(error, kNow), error != EAGAIN) << "the next may be there";
    EXPECT_TRUE(pace.MayListen(kNow)) << error;
  }
}

}  // namespace
}  // namespace utlz
