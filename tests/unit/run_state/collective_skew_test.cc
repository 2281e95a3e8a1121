// Which processes communicate with each other, and who of them comes last.
#include "collector/run/collective_skew.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace utlz {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kStepNs = 10 * kMillisecond;
constexpr uint64_t kSteps = 20;

class CollectiveSkewTest : public ::testing::Test {
 protected:
  // One collective: all begin at `begin_ns` and `last` a millisecond later.
  void AllReduce(std::initializer_list<uint32_t> sources, uint32_t last, uint64_t begin_ns) {
    const uint64_t end_ns = begin_ns + kMillisecond + 200'000;
    for (const uint32_t source : sources) {
      skew_.Add(source, source == last ? begin_ns + kMillisecond : begin_ns, end_ns);
    }
  }
  void Run(std::initializer_list<uint32_t> sources, uint32_t last, uint64_t begin_ns) {
    for (uint64_t step = 0; step < kSteps; ++step) {
      AllReduce(sources, last, begin_ns + step * kStepNs);
    }
  }
  void ExpectLast(uint32_t source, uint64_t collectives) {
    const ProcessSkew skew = skew_.Summarize().at(source);
    EXPECT_EQ(skew.matched, collectives) << source;
    EXPECT_EQ(skew.last_share, 1) << source;
    EXPECT_EQ(skew.delay_ns, static_cast<double>(collectives * kMillisecond)) << source;
  }

  CollectiveSkew skew_;
};

TEST_F(CollectiveSkewTest, RanksThatWereStartedAnew) {
  Run({1, 2, 3}, 2, kStepNs);
  Run({4, 5, 6}, 5, kSteps * kStepNs * 2);
  ExpectLast(2, kSteps);
  ExpectLast(5, kSteps);
  auto skews = skew_.Summarize();
  EXPECT_EQ(skews.at(1).group, skews.at(3).group);
  EXPECT_NE(skews.at(1).group, skews.at(4).group);
}

TEST_F(CollectiveSkewTest, JobsSideBySide) {
  Run({1, 3}, 3, kStepNs);
  Run({2, 4}, 2, kStepNs + 4 * kMillisecond);
  ExpectLast(3, kSteps);
  ExpectLast(2, kSteps);
}

TEST_F(CollectiveSkewTest, RanksOfOneGroupAlsoCommunicateWithOthers) {
  for (uint64_t step = 0; step < kSteps; ++step) {
    const uint64_t begin_ns = (1 + step) * kStepNs;
    AllReduce({1, 2}, 2, begin_ns);
    AllReduce({3, 4}, 3, begin_ns + 2 * kMillisecond);
    if (step % 4 == 0) AllReduce({1, 2, 3, 4}, 4, begin_ns + 5 * kMillisecond);
  }
  const auto skews = skew_.Summarize();
  EXPECT_EQ(skews.at(2).group, skews.at(1).group);
  EXPECT_NE(skews.at(3).group, skews.at(1).group);
  EXPECT_EQ(skews.at(2).matched, kSteps + kSteps / 4);
  EXPECT_EQ(skews.at(2).last_share, kSteps / static_cast<double>(kSteps + kSteps / 4));
}

TEST_F(CollectiveSkewTest, WhoeverCommunicatesAloneIsLeftOut) {
  Run({1, 2}, 2, kStepNs);
  for (uint64_t step = 0; step < 3 * kSteps; ++step) {
    const uint64_t start_ns = 3 * kMillisecond + step * 3'700'000;
    skew_.Add(7, start_ns, start_ns + 100'000);
  }
  ExpectLast(2, kSteps);
  EXPECT_EQ(skew_.Summarize().at(7).matched, 0u);
}

TEST_F(CollectiveSkewTest, NobodyCommunicatesWithOne) {
  Run({1}, 1, kStepNs);
  EXPECT_EQ(skew_.Summarize().at(1).matched, 0u);
  EXPECT_GT(skew_.Summarize().at(1).communication_ns, 0u);
}

}  // namespace
}  // namespace utlz
