#include "tools/merge/clock_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/merge/job_maker.h"

namespace utlz {
namespace {

double TrueShift(const MadeClock& clock, const ClockShift& found) {
  return clock.shift_ns + clock.drift * (found.middle_ns - static_cast<double>(kJobStartNs));
}

// Whatever the shift, the drift and the job: the planted clock lies within the error that is
// stated.
TEST(ClockAlignmentTest, FindsAnyPlantedClockWithinItsError) {
  std::mt19937_64 random(7);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    JobOptions options;
    options.seed = seed;
    options.steps = static_cast<size_t>(between(10, 120));
    options.collectives_per_step = static_cast<size_t>(between(1, 12));
    options.step_ns = between(5e6, 200e6);
    options.step_jitter_ns = options.step_ns * between(0.005, 0.05);
    options.end_scatter_ns = between(200, 6e3);
    options.arrival_jitter_ns = between(1e3, 400e3);
    const std::vector<RankTrace> ranks = MakeJob(options);
    const MadeClock clock = {between(-5e9, 5e9), between(-20e-6, 20e-6)};
    const RankTrace other = OnClock(ranks[1], clock);
    const auto found = AlignClocks(ranks[0].collectives, other.collectives);
    ASSERT_TRUE(found.has_value()) << "seed " << seed;
    EXPECT_FALSE(found->other_shift_ns.has_value()) << "seed " << seed;
    EXPECT_NEAR(found->shift_ns, TrueShift(clock, *found), found->error_ns) << "seed " << seed;
    EXPECT_LT(found->error_ns, 40e3) << "seed " << seed;
    EXPECT_NEAR(found->drift * found->span_ns, clock.drift * found->span_ns, 3 * found->error_ns)
        << "seed " << seed;
  }
}

// Tracing in windows, at other times on either side.
TEST(ClockAlignmentTest, NeedsOnlyTheCollectivesThatBothRecorded) {
  JobOptions options;
  options.steps = 200;
  std::vector<RankTrace> ranks = MakeJob(options);
  const auto thin = [](RankTrace* rank, uint64_t phase_ns) {
    std::erase_if(rank->collectives, [&](const Collective& one) {
      return (one.end_ns - kJobStartNs + phase_ns) % 1'000'000'000 > 400'000'000;
    });
  };
  thin(&ranks[0], 0);
  thin(&ranks[1], 200'000'000);
  const MadeClock clock = {1.5e9, 0};
  const auto found = AlignClocks(ranks[0].collectives, OnClock(ranks[1], clock).collectives);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->shift_ns, clock.shift_ns, found->error_ns);
}

TEST(ClockAlignmentTest, SaysWhereStepsAreTooRegularToTell) {
  JobOptions options;
  options.step_jitter_ns = 0;
  options.arrival_jitter_ns = 0;
  options.collectives_per_step = 1;
  const std::vector<RankTrace> ranks = MakeJob(options);
  const MadeClock clock = {3e6, 0};
  const auto found = AlignClocks(ranks[0].collectives, OnClock(ranks[1], clock).collectives);
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->other_shift_ns.has_value());
  EXPECT_NEAR(found->shift_ns, clock.shift_ns, found->error_ns) << "the smallest shift is taken";
  EXPECT_NEAR(std::abs(*found->other_shift_ns - found->shift_ns), options.step_ns, 1e5);
}

TEST(ClockAlignmentTest, DoesNotTieJobsThatNeverMet) {
  JobOptions options;
  const std::vector<RankTrace> ranks = MakeJob(options);
  options.seed = 2;
  const std::vector<RankTrace> others = MakeJob(options);
  EXPECT_FALSE(AlignClocks(ranks[0].collectives, others[1].collectives).has_value());
  EXPECT_FALSE(AlignClocks(ranks[0].collectives, {}).has_value());
  EXPECT_FALSE(AlignClocks({}, {}).has_value());
}

}  // namespace
}  // namespace utlz
