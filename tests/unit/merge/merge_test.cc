#include "tools/merge/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"
#include "tests/unit/merge/job_maker.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

class MergeTest : public ::testing::Test {
 protected:
  // Rank 0 and 1 on host a, 2 on host b, whose clock is off; 2 comes late.
  void WriteJob() {
    JobOptions options;
    options.ranks = 3;
    options.arrival_jitter_ns = 30e3;
    options.late_ns = {0, 0, 500e3};
    job_ = MakeJob(options);
    WriteRankProfile(a_, "a", job_[0], {});
    WriteRankProfile(b_, "a", job_[1], {});
    WriteRankProfile(c_, "b", job_[2], clock_);
  }

  TemporaryFolder folder_;
  std::string a_ = folder_.File("a.utlz");
  std::string b_ = folder_.File("b.utlz");
  std::string c_ = folder_.File("c.utlz");
  std::string merged_ = folder_.File("merged.utlz");
  MadeClock clock_ = {2.5e9, 0};
  std::vector<RankTrace> job_;
};

TEST_F(MergeTest, PutsAllRanksOnOneClockAndNamesTheLateOne) {
  WriteJob();
  const auto merged = MergeProfiles({a_, b_, c_}, merged_);
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const RanksSummary& ranks = merged->ranks();
  ASSERT_EQ(ranks.clocks_size(), 2) << "one clock a host";
  EXPECT_EQ(ranks.clocks(0).shift_ns(), 0);
  EXPECT_EQ(ranks.clocks(1).host(), "b");
  EXPECT_NEAR(ranks.clocks(1).shift_ns(), clock_.shift_ns, ranks.clocks(1).shift_error_ns());
  ASSERT_EQ(ranks.ranks_size(), 3);
  EXPECT_EQ(ranks.ranks(0).rank(), 2u);
  EXPECT_TRUE(ranks.ranks(0).straggler());
  EXPECT_THAT(ranks.verdict(), HasSubstr("Rank 2 (b)"));

  EXPECT_EQ(merged->processes_size(), 3);
  EXPECT_EQ(merged->devices_size(), 3);
  for (const DeviceSummary& device : merged->devices()) {
    EXPECT_EQ(device.ceilings_time_ns(), kCeilingsTimeNs) << "what was measured of it is kept";
  }
  EXPECT_EQ(merged->run().host(), "a, b");
  EXPECT_EQ(merged->capture().launches(), 3u * 2 * job_[0].collectives.size());
  EXPECT_EQ(merged->capture().frames_refused(), 0u);
  // The run is as long as the job was, not longer by the clocks' difference.
  EXPECT_NEAR(static_cast<double>(merged->run().wall_ns()), 1.8e9, 0.2e9);
}

TEST_F(MergeTest, WhatWasMergedOpensAndReplaysToTheSame) {
  WriteJob();
  const auto merged = MergeProfiles({a_, b_, c_}, merged_);
  ASSERT_TRUE(merged.ok());
  const auto loaded = LoadSummary(merged_);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->SerializeAsString(), merged->SerializeAsString());
  const auto replayed = ReplayProfile(merged_);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed->ranks().SerializeAsString(), merged->ranks().SerializeAsString());
  EXPECT_EQ(replayed->capture().launches(), merged->capture().launches());
  EXPECT_EQ(replayed->devices_size(), 3);
}

TEST_F(MergeTest, AHostWithoutCollectivesKeepsItsClockAndSaysSo) {
  WriteJob();
  JobOptions other;
  other.seed = 99;
  WriteRankProfile(c_, "elsewhere", MakeJob(other)[1], {});
  const auto merged = MergeProfiles({a_, c_}, merged_);
  ASSERT_TRUE(merged.ok());
  EXPECT_FALSE(merged->ranks().clocks(1).has_shift_ns());
  EXPECT_THAT(merged->ranks().clocks(1).note(), HasSubstr("No collective ties it"));
}

// Pairs of ranks that talk only among themselves: a1 with b1, a2 with b2, and b with c.
TEST_F(MergeTest, TiesHostsThroughOthersAndAddsTheErrors) {
  JobOptions first;
  first.seed = 11;
  JobOptions second;
  second.seed = 12;
  const std::vector<RankTrace> ab = MakeJob(first);
  const std::vector<RankTrace> bc = MakeJob(second);
  const MadeClock b = {-1.25e9, 0};
  const MadeClock c = {0.5e9, 0};
  const std::string b2 = folder_.File("b2.utlz");
  WriteRankProfile(a_, "a", ab[0], {});
  WriteRankProfile(b_, "b", ab[1], b);
  WriteRankProfile(b2, "b", bc[0], b);
  WriteRankProfile(c_, "c", bc[1], c);
  const auto merged = MergeProfiles({a_, c_, b_, b2}, merged_);
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  ASSERT_EQ(merged->ranks().clocks_size(), 3);
  const ClockSummary& of_c = merged->ranks().clocks(1);
  const ClockSummary& of_b = merged->ranks().clocks(2);
  EXPECT_NEAR(of_b.shift_ns(), b.shift_ns, of_b.shift_error_ns());
  EXPECT_NEAR(of_c.shift_ns(), c.shift_ns, of_c.shift_error_ns());
  EXPECT_GT(of_c.shift_error_ns(), of_b.shift_error_ns());
  EXPECT_THAT(of_c.note(), HasSubstr("Tied through b"));
}

TEST_F(MergeTest, RefusesToReplaceOneOfItsParts) {
  WriteJob();
  EXPECT_EQ(MergeProfiles({a_, b_}, b_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(MergeProfiles({a_, folder_.File("missing")}, merged_).ok());
}

TEST_F(MergeTest, RefusesARunThatIsGivenTwice) {
  WriteJob();
  const std::string copy = folder_.File("copy.utlz");
  std::filesystem::copy_file(a_, copy);
  EXPECT_THAT(std::string(MergeProfiles({a_, b_, copy}, merged_).status().message()),
              HasSubstr("the same run"));
}

TEST_F(MergeTest, RefusesRunsOfAHostThatFollowEachOther) {
  WriteJob();
  WriteRankProfile(b_, "a", job_[1], {3600e9, 0});
  const absl::Status status = MergeProfiles({a_, b_}, merged_).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("not ranks of one job"));
  WriteRankProfile(b_, "b", job_[1], {3600e9, 0});
  EXPECT_TRUE(MergeProfiles({a_, b_}, merged_).ok()) << "another host's clock may be wrong";
}

}  // namespace
}  // namespace utlz
