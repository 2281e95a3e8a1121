#include "collector/session/sampling_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/session/now.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SamplingPaceTest : public ::testing::Test {
 protected:
  void Look(uint64_t samples, double imprecision) {
    pace_.Looked(kNow, 1000, {{"gpu 0", samples, imprecision}});
  }
  SamplingPace pace_;
};

TEST_F(SamplingPaceTest, TwoLooksRunningSayThatItIsEnough) {
  Look(1000, 0.02);
  EXPECT_THAT(pace_.seldom(), IsEmpty()) << "the first windows may be all alike by chance";
  Look(1500, 0.02);
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 0"));
  Look(2000, 1);
  EXPECT_THAT(pace_.seldom(), IsEmpty()) << "there is a kernel that is not known";
}

TEST_F(SamplingPaceTest, AnErrorOfFiveHundredthsIsSmallEnough) {
  for (uint64_t samples = 1000; samples < 1500; samples += 100) Look(samples, 0.051);
  EXPECT_THAT(pace_.seldom(), IsEmpty());
  Look(1500, 0.05);
  Look(1600, 0.05);
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 0"));
}

TEST_F(SamplingPaceTest, ErrorsThatSamplesMakeSmallerAreWorthThem) {
  double imprecision = 0.5;
  for (uint64_t samples = 1000; imprecision > 0.06; samples *= 2, imprecision *= 0.71) {
    Look(samples, imprecision);
    EXPECT_THAT(pace_.seldom(), IsEmpty()) << samples;
  }
}

TEST_F(SamplingPaceTest, ErrorsThatStayAreNotWorthThem) {
  Look(1000, 0.2);
  Look(1500, 0.19);
  EXPECT_THAT(pace_.seldom(), IsEmpty()) << "too few more to tell";
  Look(2000, 0.19);
  Look(2100, 0.19);
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 0"));
  Look(2200, 0.3);
  EXPECT_THAT(pace_.seldom(), IsEmpty()) << "new kernels";
}

TEST_F(SamplingPaceTest, WhetherErrorsStayIsToldByTwiceTheSamples) {
  Look(1000, 0.2);
  for (uint64_t samples = 1100; samples < 2000; samples += 100) Look(samples, 0.19);
  EXPECT_THAT(pace_.seldom(), IsEmpty());
  Look(2000, 0.165);
  for (uint64_t samples = 2100; samples < 4000; samples += 100) Look(samples, 0.165);
  EXPECT_THAT(pace_.seldom(), IsEmpty()) << "it became smaller";
  Look(4000, 0.15);
  Look(4100, 0.15);
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 0")) << "hardly";
}

TEST_F(SamplingPaceTest, AnErrorThatWaversIsNoNewOne) {
  Look(1000, 0.2);
  Look(1500, 0.23);
  Look(2000, 0.2);
  Look(2100, 0.2);
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 0"));
}

TEST_F(SamplingPaceTest, AKernelWithoutCountersIsWorthMoreSamplesHoweverLongItTakes) {
  for (uint64_t samples = 1000; samples < 100'000; samples *= 2) {
    Look(samples, 1);
    EXPECT_THAT(pace_.seldom(), IsEmpty());
  }
}

TEST_F(SamplingPaceTest, GpusAreToldApart) {
  for (int i = 0; i < 2; ++i) pace_.Looked(kNow, 0, {{"gpu 0", 1000, 0.5}, {"gpu 1", 1000, 0.01}});
  EXPECT_THAT(pace_.seldom(), ElementsAre("gpu 1"));
  EXPECT_TRUE(pace_.Due(kNow + SamplingPace::kPauseNs)) << "of the other more is wanted";
}

TEST_F(SamplingPaceTest, LooksAreSeldomWhereTheyCostMuchOrTellNothingNew) {
  EXPECT_TRUE(pace_.Due(kNow));
  Look(1000, 0.01);
  EXPECT_FALSE(pace_.Due(kNow + SamplingPace::kPauseNs - 1));
  EXPECT_TRUE(pace_.Due(kNow + SamplingPace::kPauseNs));
  Look(1000, 0.01);
  EXPECT_FALSE(pace_.Due(kNow + SamplingPace::kPauseNs));
  EXPECT_TRUE(pace_.Due(kNow + SamplingPace::kSeldomPauseNs));
  constexpr uint64_t kDearNs = 500'000'000;
  pace_.Looked(kNow, kDearNs, {});
  EXPECT_FALSE(pace_.Due(kNow + 90 * kDearNs));
  EXPECT_TRUE(pace_.Due(kNow + 110 * kDearNs));
}

}  // namespace
}  // namespace utlz
