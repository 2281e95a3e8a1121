#include "collector/sampler/retry_pace.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(RetryPaceTest, PausesGrowUpToTheLongest) {
  RetryPace pace(7);
  EXPECT_EQ(pace.next_ns(), 7u);
  pace.AfterFailure(0);
  EXPECT_EQ(pace.next_ns(), RetryPace::kFirstPauseNs);
  pace.AfterFailure(0);
  EXPECT_EQ(pace.next_ns(), 2 * RetryPace::kFirstPauseNs);
  for (int i = 0; i < 10; ++i) pace.AfterFailure(0);
  EXPECT_EQ(pace.next_ns(), RetryPace::kLongestPauseNs);
}

TEST(RetryPaceTest, SamplesMakeThemShortAgain) {
  RetryPace pace(0);
  for (int i = 0; i < 10; ++i) pace.AfterFailure(0);
  pace.Works();
  pace.AfterFailure(0);
  EXPECT_EQ(pace.next_ns(), RetryPace::kFirstPauseNs);
}

TEST(RetryPaceTest, ALeaseIsAskedForSoonHoweverOften) {
  RetryPace pace(0);
  for (int i = 0; i < 10; ++i) pace.AfterLease(5);
  EXPECT_EQ(pace.next_ns(), 5 + RetryPace::kLeasePauseNs);
  pace.AfterFailure(0);
  EXPECT_EQ(pace.next_ns(), RetryPace::kFirstPauseNs);
}

}  // namespace
}  // namespace utlz
