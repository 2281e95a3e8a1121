// Whatever comes in, totals are conserved, numbers are finite and what was refused is counted.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

Options ThreeCounters() {
  Options options;
  options.counters = {{"read", "dram", 1e6}, {"write", "dram_write", 1e6}, {"cycles", "sm"}};
  options.warmup_samples = 500;
  options.max_columns = 64;
  options.max_variants = 100;
  return options;
}

void ExpectConserved(const Solution& solution) {
  std::array<double, 3> attributed{};
  for (const ColumnEstimate& column : solution.columns) {
    for (size_t i = 0; i < column.counters.size(); ++i) {
      const CounterEstimate& estimate = column.counters[i];
      attributed[i] += estimate.attributed;
      ASSERT_TRUE(std::isfinite(estimate.attributed));
      ASSERT_GE(estimate.attributed, 0);
      ASSERT_TRUE(estimate.per_launch || !estimate.standard_error);
      if (!estimate.per_launch) continue;
      ASSERT_TRUE(std::isfinite(*estimate.per_launch));
      ASSERT_GE(*estimate.per_launch, 0);
      if (!estimate.standard_error) continue;
      ASSERT_TRUE(std::isfinite(*estimate.standard_error));
      ASSERT_TRUE(std::isfinite(estimate.assumed_error));
      ASSERT_GE(estimate.assumed_error, 0);
      ASSERT_LE(estimate.assumed_error, *estimate.standard_error * (1 + 1e-9));
    }
  }
  for (size_t i = 0; i < solution.totals.size(); ++i) {
    const CounterTotals& totals = solution.totals[i];
    const double tolerance = 1e-9 * totals.counted + 1e-9;
    ASSERT_NEAR(totals.attributed + totals.idle + totals.unattributed, totals.counted, tolerance);
    ASSERT_NEAR(attributed[i], totals.attributed, tolerance);
    ASSERT_GE(totals.unattributed, -tolerance);
  }
}

TEST(EngineInput, ConservesTotalsOfRandomInput) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Engine engine(ThreeCounters());
    int64_t now = 1'000'000;
    for (int i = 0; i < 3000; ++i) {
      const auto length = static_cast<int64_t>(1 + random() % 20'000);
      engine.AddInterval(random() % 150, static_cast<IntervalKind>(random() % 3),
                         now + static_cast<int64_t>(random() % 60'000) - 30'000,
                         now + static_cast<int64_t>(random() % 90'000) - 30'000);
      const std::array<double, 3> values = {static_cast<double>(random() % 1'000'000),
                                            random() % 10 == 0 ? 1e9 : 0, 3e3};
      if (random() % 20 != 0) engine.AddSample(now, now + length, values);
      now += random() % 100 == 0 ? length + 1'000'000 : length;
      if (random() % 50 == 0) engine.AdvanceTo(now);
      if (random() % 1000 == 0) ExpectConserved(engine.Solve());
    }
    engine.AdvanceTo(now + 1'000'000'000);
    ExpectConserved(engine.Solve());
  }
}

TEST(EngineInput, RefusesValuesThatCannotBe) {
  Engine engine(ThreeCounters());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinite, -1.0, 1e300, 1.8e19, 2e6 * 5000}) {
    const std::array<double, 3> values = {bad, 0, 0};
    engine.AddSample(1000, 6000, values);
  }
  const std::array<double, 3> good = {1, 1, 1};
  engine.AddSample(6000, 6000, good);
  engine.AddSample(7000, 6000, good);
  engine.AddSample(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), good);
  engine.AddSample(1000, 6000, std::array<double, 2>{1, 1});
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.quality.invalid_samples, 10u);
  EXPECT_EQ(solution.quality.samples, 0u);
  EXPECT_EQ(solution.totals[0].counted, 0);
}

TEST(EngineInput, RefusesIntervalsThatCannotBe) {
  Engine engine(ThreeCounters());
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  engine.AddInterval(1, IntervalKind::kKernel, 0, 0);
  engine.AddInterval(1, IntervalKind::kKernel, 5000, 5000);
  engine.AddInterval(1, IntervalKind::kKernel, 5000, 4000);
  engine.AddInterval(1, IntervalKind::kKernel, -5, 4000);
  engine.AddInterval(1, IntervalKind::kKernel, 5, kMost);
  engine.AddInterval(1, IntervalKind::kKernel, std::numeric_limits<int64_t>::min(), kMost);
  EXPECT_EQ(engine.Solve().quality.untimed_intervals, 1u);
  EXPECT_EQ(engine.Solve().quality.invalid_intervals, 5u);
}

TEST(EngineInput, DoubledAndDisorderedSamplesCountOnce) {
  const SimulatedLoad load = Simulate({{1, 8000, 1e6, 0, 1, 3000}}, {});
  Options options;
  options.counters = {{"bytes", "dram"}};
  Engine once(options);
  load.Feed(&once);
  SimulatedLoad doubled = load;
  doubled.samples.insert(doubled.samples.end(), load.samples.begin(), load.samples.end());
  for (size_t i = 0; i + 1 < doubled.samples.size(); i += 2) {
    std::swap(doubled.samples[i], doubled.samples[i + 1]);
  }
  Engine twice(options);
  doubled.Feed(&twice);
  twice.AdvanceTo(load.samples.back().end_ns + 1'000'000);
  EXPECT_EQ(twice.Solve().totals[0].counted, once.Solve().totals[0].counted);
  EXPECT_EQ(twice.Solve().quality.disordered_samples, load.samples.size());
}

// One of them is of another time, and nothing says which.
TEST(EngineInput, SamplesThatOverlapAreNotAccepted) {
  Engine engine(ThreeCounters());
  const std::array<double, 3> values = {10, 10, 10};
  for (int64_t i = 0; i < 100; ++i) engine.AddSample(i * 5000, (i + 1) * 5000, values);
  engine.AddSample(203'000, 208'000, values);
  engine.AddSample(400'000, 405'000, std::array<double, 3>{11, 10, 10});
  engine.AddSample(500'000, 504'900, values);
  engine.AddSample(504'899, 509'800, values);  // hardly overlaps: the first counts
  engine.AdvanceTo(10'000'000);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.quality.disordered_samples, 6u);
  EXPECT_EQ(solution.quality.samples, 98u);
}

TEST(EngineInput, ClockJumpsAreMarked) {
  Engine engine(ThreeCounters());
  const std::array<double, 3> values = {10, 10, 10};
  for (int64_t i = 0; i < 100; ++i) engine.AddSample(i * 5000, (i + 1) * 5000, values);
  engine.AdvanceTo(10'000'000'000'000);
  for (int64_t i = 100; i < 200; ++i) engine.AddSample(i * 5000, (i + 1) * 5000, values);
  engine.AddInterval(1, IntervalKind::kKernel, 510'000, 520'000);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.quality.samples, 100u);
  EXPECT_EQ(solution.quality.late_intervals, 1u);
  // Later samples are no older than those processed: they still count.
  EXPECT_EQ(solution.quality.disordered_samples, 0u);
}

TEST(EngineInput, AMillionVariantsAreFolded) {
  Options options;
  options.counters = {{"bytes", "dram"}};
  options.max_variants = 1000;
  options.max_columns = 100;
  options.warmup_samples = 4000;
  Engine engine(options);
  int64_t now = 1'000'000;
  for (uint64_t variant = 0; variant < 1'000'000; ++variant) {
    engine.AddInterval(variant, IntervalKind::kKernel, now, now + 900);
    if (variant % 5 == 0) engine.AddSample(now, now + 5000, std::array<double, 1>{5000});
    now += 1000;
    if (variant % 10'000 == 0) engine.AdvanceTo(now);
  }
  engine.AdvanceTo(now + 1'000'000);
  const Solution solution = engine.Solve();
  EXPECT_LE(solution.columns.size(), 1001u);
  uint64_t launches = 0;
  for (const ColumnEstimate& column : solution.columns) {
    launches += column.launches;
    if (column.variant == kOtherVariants) {
      EXPECT_GT(column.launches, 990'000u);
      EXPECT_TRUE(column.group.has_value());
    }
  }
  EXPECT_EQ(launches, 1'000'000u);
  EXPECT_NEAR(
      solution.totals[0].attributed + solution.totals[0].idle + solution.totals[0].unattributed,
      1e9, 1);
}

TEST(EngineInput, CrowdsAreBounded) {
  Engine engine(ThreeCounters());
  for (uint64_t i = 0; i < 1000; ++i) {
    engine.AddInterval(i, IntervalKind::kKernel, 1'000'000, 900'000'000);
  }
  for (int64_t i = 0; i < 1000; ++i) {
    engine.AddSample(1'000'000 + i * 5000, 1'005'000 + i * 5000, std::array<double, 3>{1, 2, 3});
  }
  engine.AdvanceTo(2'000'000'000);
  const Solution solution = engine.Solve();
  ExpectConserved(solution);
  EXPECT_GT(solution.quality.crowded_intervals, 0u);
}

TEST(EngineInput, WatermarksMayBeAnything) {
  Engine engine(ThreeCounters());
  engine.AdvanceTo(std::numeric_limits<int64_t>::min());
  engine.AdvanceTo(std::numeric_limits<int64_t>::max());
  ExpectConserved(engine.Solve());
}

TEST(EngineInput, NothingAtAll) {
  Engine engine(ThreeCounters());
  engine.AdvanceTo(1'000'000);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.totals.size(), 3u);
  ExpectConserved(solution);
}

}  // namespace
}  // namespace utlz::attribution
