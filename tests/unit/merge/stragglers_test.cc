#include "tools/merge/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/merge/job_maker.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

RanksSummary Find(const std::vector<RankTrace>& traces, double error_ns = 0) {
  std::vector<PlacedRank> ranks;
  for (const RankTrace& trace : traces) {
    PlacedRank rank;
    rank.trace = &trace;
    rank.clock.error_ns = error_ns;
    rank.host = "h" + std::to_string(trace.rank);
    rank.source_index = trace.rank + 1;
    ranks.push_back(rank);
  }
  RanksSummary summary;
  FindStragglers(ranks, 1.8e9, &summary);
  return summary;
}

TEST(StragglersTest, NamesTheRankThatTheOthersWaitFor) {
  JobOptions options;
  options.ranks = 4;
  options.arrival_jitter_ns = 50e3;
  options.late_ns = {0, 0, 600e3, 0};
  const RanksSummary summary = Find(MakeJob(options));
  EXPECT_EQ(summary.collectives(), 480u);
  ASSERT_EQ(summary.ranks_size(), 4);
  const RankSummary& worst = summary.ranks(0);
  EXPECT_EQ(worst.rank(), 2u);
  EXPECT_TRUE(worst.straggler());
  EXPECT_GT(worst.last_in(), 470u);
  EXPECT_NEAR(worst.waited_for_ns() / 480, 550e3, 60e3);
  EXPECT_FALSE(summary.ranks(1).straggler());
  EXPECT_GT(summary.ranks(1).waiting_ns(), 480 * 500e3);
  EXPECT_THAT(summary.verdict(), HasSubstr("Rank 2 (h2) is last into"));
}

TEST(StragglersTest, NamesNobodyWhereAllAreLastInTurn) {
  JobOptions options;
  options.ranks = 4;
  const RanksSummary summary = Find(MakeJob(options));
  for (const RankSummary& rank : summary.ranks()) EXPECT_FALSE(rank.straggler()) << rank.rank();
  EXPECT_THAT(summary.verdict(), HasSubstr("No rank comes last"));
}

TEST(StragglersTest, ALeadWithinTheClocksErrorMakesNobodyLast) {
  JobOptions options;
  options.arrival_jitter_ns = 1e3;
  options.late_ns = {0, 30e3};
  EXPECT_EQ(Find(MakeJob(options), 100e3).ranks(0).last_in(), 0u);
  EXPECT_GT(Find(MakeJob(options), 1e3).ranks(0).last_in(), 400u);
}

// A job that its launcher started anew ten times, of two ranks each: one of two is last in half of
// the collectives by turns, however many processes there were in all.
TEST(StragglersTest, RanksOfOtherStartsMakeNobodyAStraggler) {
  constexpr uint64_t kMs = 1'000'000;
  constexpr uint64_t kStarts = 10;
  constexpr uint64_t kCollectives = 20;
  const auto find = [](uint64_t last_of_ten) {
    std::vector<RankTrace> traces(2 * kStarts);
    for (uint64_t i = 0; i < kStarts * kCollectives; ++i) {
      const bool first_is_last = i % 10 < last_of_ten;
      const uint64_t begin_ns = (i + 1) * 10 * kMs;
      for (const uint64_t rank : {0, 1}) {
        const bool late = (rank == 0) == first_is_last;
        RankTrace& trace = traces[i / kCollectives * 2 + rank];
        trace.rank = static_cast<uint32_t>(rank);
        trace.collectives.push_back(
            {.start_ns = begin_ns + (late ? 4 * kMs : 0), .end_ns = begin_ns + 5 * kMs, .name = 1});
      }
    }
    return Find(traces);
  };
  EXPECT_FALSE(find(6).ranks(0).straggler());
  EXPECT_TRUE(find(9).ranks(0).straggler());
}

TEST(StragglersTest, SaysWhereNoCollectivesWereSeen) {
  EXPECT_THAT(Find({}).verdict(), HasSubstr("No collective"));
}

}  // namespace
}  // namespace utlz
