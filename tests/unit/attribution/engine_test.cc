#include "collector/attribution/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

// Works late, early and in the middle, so that a constant rate is wrong for all of them.
const std::vector<SimulatedKernel> kShapedStep = {{1, 5200, 8e6, 0.0, 0.6, 100},
                                                  {2, 1400, 2e4, 0.2, 0.9, 150},
                                                  {3, 4300, 1e6, 0.4, 0.9, 100},
                                                  {4, 17000, 6e7, 0.05, 1.0, 100},
                                                  {5, 3100, 3e5, 0.3, 0.7, 2500}};

// Of all kernels, as a share of the work of a whole step: what one kernel misses another has.
double WorstError(const Solution& solution) {
  double worst = 0;
  double all = 0;
  for (const SimulatedKernel& kernel : kShapedStep) {
    worst = std::max(worst, std::abs(PerLaunch(solution, kernel.variant) - kernel.work));
    all += kernel.work;
  }
  return worst / all;
}

TEST(Engine, FindsWorkOfKernelsNearTheSampleLength) {
  Engine engine(OneCounter());
  Simulate(kShapedStep, {}).Feed(&engine);
  EXPECT_LT(WorstError(engine.Solve()), 0.01);
}

TEST(Engine, FindsWorkOfKernelsMuchShorterThanASample) {
  SimulationOptions simulation;
  simulation.sample_ns = 20'000;
  simulation.steps = 2000;
  Engine engine(OneCounter());
  Simulate(kShapedStep, simulation).Feed(&engine);
  EXPECT_LT(WorstError(engine.Solve()), 0.015);
}

// Compilers that tune run thousands of kernels once, before the first step.
TEST(Engine, KernelsThatWereTriedOutTakeNoPlaceOfThoseThatStay) {
  constexpr int64_t kTriedOut = 10'000;
  constexpr int64_t kEachNs = 100'000;
  Engine engine(OneCounter());
  for (int64_t i = 1; i <= kTriedOut; ++i) {
    engine.AddInterval(1000 + static_cast<uint64_t>(i), IntervalKind::kKernel, i * kEachNs,
                       i * kEachNs + kEachNs / 2);
  }
  SimulatedLoad load = Simulate(kShapedStep, {});
  constexpr int64_t kStartUpNs = 2 * kTriedOut * kEachNs;
  for (SimulatedLaunch& launch : load.launches) {
    launch.start_ns += kStartUpNs;
    launch.end_ns += kStartUpNs;
  }
  for (SimulatedSample& sample : load.samples) {
    sample.start_ns += kStartUpNs;
    sample.end_ns += kStartUpNs;
  }
  load.Feed(&engine);
  EXPECT_LT(WorstError(engine.Solve()), 0.01);
}

// Where there is room for few fine shapes, a kernel more with a constant rate is worth more than
// another knot: a kernel without a column has no counters at all.
TEST(Engine, EveryKernelHasAColumnBeforeAnyHasAFineShape) {
  constexpr uint64_t kKernels = 40;
  std::vector<SimulatedKernel> step;
  double work = 0;
  for (uint64_t i = 1; i <= kKernels; ++i) {
    step.push_back(
        {i, 20'000.0 + 1000.0 * static_cast<double>(i), 1e6 * static_cast<double>(i), 0, 1, 2500});
    work += step.back().work;
  }
  Options options = OneCounter();
  options.max_columns = 2 * kKernels;
  Engine engine(options);
  Simulate(step, {}).Feed(&engine);
  const Solution solution = engine.Solve();
  for (const SimulatedKernel& kernel : step) {
    EXPECT_NEAR(PerLaunch(solution, kernel.variant), kernel.work, 0.01 * work / 4)
        << kernel.variant;
  }
}

// What caches hold is worth as many bytes to every kernel, and matters to those that move few.
TEST(Engine, CachesWidenTheIntervalsOfThoseThatMoveLittle) {
  const auto error_of = [](uint64_t variant, bool behind_caches) {
    Options options = OneCounter();
    options.counters[0].behind_caches = behind_caches;
    Engine engine(options);
    Simulate(kShapedStep, {}).Feed(&engine);
    for (const ColumnEstimate& column : engine.Solve().columns) {
      if (column.variant == variant) return column.counters[0].standard_error.value();
    }
    return 0.0;
  };
  const double busiest_per_ns = 6e7 / 17000;
  const double cached = OneCounter().cache_share * busiest_per_ns * 1400;
  EXPECT_NEAR(error_of(2, true), std::hypot(error_of(2, false), cached), cached * 0.05);
  EXPECT_LT(error_of(4, true), error_of(4, false) * 1.001);
}

const CounterEstimate& EstimateOf(const Solution& solution, uint64_t variant) {
  const auto column =
      std::find_if(solution.columns.begin(), solution.columns.end(),
                   [variant](const ColumnEstimate& any) { return any.variant == variant; });
  EXPECT_NE(column, solution.columns.end());
  return column->counters[0];
}

constexpr uint64_t kOnce = 9;

// A kernel of 300 us that is launched once, with pauses on both sides, after the others.
SimulatedLoad WithOneLaunchAlone(const std::vector<SimulatedKernel>& others, double work_noise) {
  SimulationOptions simulation;
  simulation.work_noise = work_noise;
  SimulatedLoad load = Simulate(others, simulation);
  const int64_t start_ns = load.samples.back().end_ns + 100'000;
  const int64_t end_ns = start_ns + 300'000;
  load.launches.push_back({kOnce, start_ns, end_ns});
  for (int64_t at_ns = load.samples.back().end_ns; at_ns < end_ns + 100'000; at_ns += 5000) {
    const bool runs = at_ns >= start_ns && at_ns < end_ns;
    load.samples.push_back({at_ns, at_ns + 5000, runs ? 5e6 : 0});
  }
  return load;
}

// Nothing of it was shared, and one launch does not scatter.
TEST(Engine, OneLaunchAloneIsAsUncertainAsLaunchesOfOthersDiffer) {
  for (const double noise : {0.05, 0.2}) {
    Engine engine(OneCounter());
    WithOneLaunchAlone(kShapedStep, noise).Feed(&engine);
    const CounterEstimate once = EstimateOf(engine.Solve(), kOnce);
    ASSERT_TRUE(once.standard_error.has_value());
    EXPECT_NEAR(*once.per_launch / 3e8, 1, 0.02);
    EXPECT_GT(*once.standard_error / *once.per_launch, 0.9 * noise);
    EXPECT_LT(*once.standard_error / *once.per_launch, 1.5 * noise + 0.03);
  }
}

TEST(Engine, OneLaunchOfTheOnlyKernelHasNoInterval) {
  Engine engine(OneCounter());
  WithOneLaunchAlone({}, 0).Feed(&engine);
  const CounterEstimate once = EstimateOf(engine.Solve(), kOnce);
  EXPECT_GT(once.attributed, 2.9e8);
  EXPECT_FALSE(once.standard_error.has_value());
}

TEST(Engine, SaysWhatOfAnErrorIsAssumed) {
  Options options = OneCounter();
  Engine engine(options);
  const SimulatedLoad load = Simulate(kShapedStep, {});
  load.Feed(&engine);
  const Solution solution = engine.Solve();
  options.reproducibility = options.shape_error = options.rate_spread = 0;
  options.timestamp_error_ns = options.edge_error_ns = 0;
  Engine without(options);
  load.Feed(&without);
  const Solution measured = without.Solve();
  for (const uint64_t variant : {1, 2, 3, 4}) {
    const CounterEstimate all = EstimateOf(solution, variant);
    const CounterEstimate of_samples = EstimateOf(measured, variant);
    EXPECT_EQ(of_samples.assumed_error, 0) << variant;
    EXPECT_GE(all.assumed_error, 0.02 * *all.per_launch) << variant;
    EXPECT_NEAR(std::hypot(*of_samples.standard_error, all.assumed_error), *all.standard_error,
                1e-6 * *all.standard_error)
        << variant;
  }
}

TEST(Engine, FindsTheShift) {
  for (const double shift_ns : {-3000.0, 0.0, 2500.0, 9000.0}) {
    SimulationOptions simulation;
    simulation.shift_ns = shift_ns;
    // Constant rates, for which the shift is defined.
    const std::vector<SimulatedKernel> even = {{1, 5200, 8e6, 0, 1, 3000},
                                               {2, 9000, 2e6, 0, 1, 5000}};
    Engine engine(OneCounter());
    Simulate(even, simulation).Feed(&engine);
    const Solution solution = engine.Solve();
    ASSERT_TRUE(solution.shifts[0].shift_ns.has_value()) << shift_ns;
    EXPECT_NEAR(*solution.shifts[0].shift_ns, shift_ns, 300);
    EXPECT_NEAR(PerLaunch(solution, 1) / 8e6, 1, 0.02) << shift_ns;
  }
}

TEST(Engine, LostSamplesDoNotBiasLongLaunches) {
  SimulationOptions simulation;
  simulation.lost_samples = 0.1;
  simulation.steps = 60;
  Engine engine(OneCounter());
  Simulate({{1, 150'000, 2e8, 0, 1, 1000}, {2, 40'000, 1e8, 0, 1, 1000}}, simulation).Feed(&engine);
  const Solution solution = engine.Solve();
  EXPECT_NEAR(PerLaunch(solution, 1) / 2e8, 1, 0.03);
  EXPECT_NEAR(PerLaunch(solution, 2) / 1e8, 1, 0.03);
  EXPECT_GT(solution.quality.missing_sample_ns, 0);
}

TEST(Engine, SplitsAVariantThatHidesTwoSizes) {
  Engine engine(OneCounter());
  Simulate({{1, 20'000, 1e7, 0, 1, 500}, {1, 80'000, 9e7, 0, 1, 500}}, {}).Feed(&engine);
  std::vector<ColumnEstimate> parts;
  for (const ColumnEstimate& column : engine.Solve().columns) {
    if (column.variant == 1) parts.push_back(column);
  }
  ASSERT_EQ(parts.size(), 2u);
  for (const ColumnEstimate& part : parts) {
    EXPECT_NEAR(*part.counters[0].per_launch / (part.part == 0 ? 1e7 : 9e7), 1, 0.03);
    EXPECT_EQ(part.launches, 400u);
  }
}

// How many of the kernels' intervals hold what they did, and how wide the intervals are.
struct IntervalCount {
  size_t all = 0;
  size_t held = 0;
  std::vector<double> half_widths;  // share of the truth

  void Add(const Solution& solution, const SimulatedKernel& kernel) {
    for (const ColumnEstimate& column : solution.columns) {
      if (column.variant != kernel.variant || column.parts != 1) continue;
      const CounterEstimate& estimate = column.counters[0];
      const double half_width = 1.96 * *estimate.standard_error;
      ++all;
      held += std::abs(*estimate.per_launch - kernel.work) <= half_width ? 1 : 0;
      half_widths.push_back(half_width / kernel.work);
    }
  }
  double HeldShare() const { return static_cast<double>(held) / static_cast<double>(all); }
  double MedianHalfWidth() {
    const auto middle = half_widths.begin() + static_cast<std::ptrdiff_t>(half_widths.size() / 2);
    std::nth_element(half_widths.begin(), middle, half_widths.end());
    return *middle;
  }
};

TEST(Engine, IntervalsHoldTheTruth) {
  IntervalCount count;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SimulationOptions simulation;
    simulation.seed = seed;
    simulation.steps = 150;
    Engine engine(OneCounter());
    Simulate(kShapedStep, simulation).Feed(&engine);
    const Solution solution = engine.Solve();
    for (const SimulatedKernel& kernel : kShapedStep) count.Add(solution, kernel);
  }
  ASSERT_GT(count.all, 50u);
  EXPECT_GE(count.HeldShare(), 0.9);
}

TEST(Engine, IntervalsHoldTheTruthOfRandomLoads) {
  IntervalCount count;
  size_t wrong_shifts = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(77 * seed);
    const std::vector<SimulatedKernel> step = RandomStep(1000, &random);
    SimulationOptions simulation;
    simulation.seed = seed;
    simulation.steps = 150;
    simulation.shift_ns = -1000;
    Engine engine(OneCounter());
    Simulate(step, simulation).Feed(&engine);
    const Solution solution = engine.Solve();
    for (const SimulatedKernel& kernel : step) {
      if (kernel.duration_ns > 3000) count.Add(solution, kernel);
    }
    // A load that repeats looks alike at several shifts; constant rates may prefer a wrong one.
    const auto& shift_ns = solution.shifts[0].shift_ns;
    wrong_shifts += shift_ns.has_value() && std::abs(*shift_ns + 1000) > 3000 ? 1 : 0;
  }
  ASSERT_GT(count.all, 100u);
  EXPECT_EQ(wrong_shifts, 0u);
  EXPECT_GE(count.HeldShare(), 0.9);
  EXPECT_LE(count.MedianHalfWidth(), 0.15) << "intervals that hold everything say nothing";
}

// What the command says of a profile is what the run said, on another machine too.
TEST(Engine, ThreadsShareTheWorkAndFindTheSame) {
  SimulationOptions simulation;
  simulation.shift_ns = -1000;
  simulation.drift_ns_per_ms = 20;
  Engine engine(OneCounter());
  Simulate(kShapedStep, simulation).Feed(&engine);
  const Solution alone = engine.Solve();
  for (const unsigned threads : {2u, 8u}) {
    const Solution shared = engine.Solve(threads);
    EXPECT_EQ(shared.shifts[0].used_shift_ns, alone.shifts[0].used_shift_ns);
    ASSERT_EQ(shared.columns.size(), alone.columns.size());
    for (size_t column = 0; column < alone.columns.size(); ++column) {
      EXPECT_EQ(shared.columns[column].counters[0].per_launch,
                alone.columns[column].counters[0].per_launch);
      EXPECT_EQ(shared.columns[column].counters[0].standard_error,
                alone.columns[column].counters[0].standard_error);
    }
  }
}

TEST(Engine, StreamingAgreesWithOneGo) {
  Options streaming = OneCounter();
  streaming.warmup_samples = 2000;
  SimulationOptions simulation;
  simulation.steps = 3000;
  const SimulatedLoad load = Simulate(kShapedStep, simulation);
  Engine engine(streaming);
  load.Stream(&engine);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.quality.samples, load.samples.size());
  EXPECT_EQ(solution.quality.late_intervals, 0u);
  EXPECT_LT(WorstError(solution), 0.015);
}

// Every hole holds more launches than may overlap in a sample.
TEST(Engine, LaunchesInHolesAreNoCrowd) {
  SimulationOptions simulation;
  simulation.steps = 2000;
  SimulatedLoad load = Simulate(kShapedStep, simulation);
  size_t index = 0;
  std::erase_if(load.samples, [&index](const SimulatedSample&) { return index++ % 80 >= 20; });
  Engine engine(OneCounter());
  load.Feed(&engine);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.quality.crowded_intervals, 0u);
  EXPECT_GT(solution.totals[0].attributed, 0.995 * solution.totals[0].counted);
  EXPECT_LT(WorstError(solution), 0.015);
}

// A load that constant rates fit three times better 15 us off than where it is.
TEST(Engine, WhatSuitsConstantRatesOnlyIsNotTheShift) {
  std::mt19937_64 random(977 * 8);
  const std::vector<SimulatedKernel> step = RandomStep(1000, &random);
  for (const double noise : {0.02, 0.2}) {
    SimulationOptions simulation;
    simulation.steps = 150;
    simulation.seed = 8;
    simulation.shift_ns = -1000;
    simulation.work_noise = noise;
    Engine engine(OneCounter());
    Simulate(step, simulation).Feed(&engine);
    EXPECT_NEAR(engine.Solve().shifts[0].used_shift_ns, -1000, 1000) << noise;
  }
}

TEST(Engine, FollowsAShiftThatDrifts) {
  Options streaming = OneCounter();
  streaming.warmup_samples = 20'000;
  SimulationOptions simulation;
  simulation.steps = 100'000;
  simulation.drift_ns_per_ms = 0.4;
  const SimulatedLoad load =
      Simulate({{1, 5200, 8e6, 0, 1, 3000}, {2, 9000, 2e6, 0, 1, 5000}}, simulation);
  Engine engine(streaming);
  load.Stream(&engine);
  const Solution solution = engine.Solve();
  const double span_ms =
      static_cast<double>(load.samples.back().end_ns - load.samples.front().start_ns) * 1e-6;
  ASSERT_TRUE(solution.shifts[0].shift_ns.has_value());
  ASSERT_GT(span_ms * simulation.drift_ns_per_ms, 800);
  EXPECT_NEAR(*solution.shifts[0].shift_ns, span_ms * simulation.drift_ns_per_ms, 300);
}

TEST(Engine, BackgroundWithoutLaunchesIsNotAttributed) {
  Engine engine(OneCounter());
  const std::array<double, 1> values = {1000};
  for (int64_t i = 0; i < 5000; ++i)
    engine.AddSample(1'000'000 + i * 5000, 1'005'000 + i * 5000, values);
  engine.AdvanceTo(1'000'000'000);
  const Solution solution = engine.Solve();
  EXPECT_EQ(solution.totals[0].counted, 5e6);
  EXPECT_EQ(solution.totals[0].attributed, 0);
  EXPECT_NEAR(solution.totals[0].idle, 5e6, 1);
  EXPECT_FALSE(solution.shifts[0].shift_ns.has_value());
}

TEST(Engine, WorkOfUnknownOriginIsLeftUnattributed) {
  SimulationOptions simulation;
  simulation.idle_per_us = 10;
  SimulatedLoad load = Simulate({{1, 8000, 1e6, 0, 1, 30'000}}, simulation);
  double hidden = 0;
  for (size_t i = 0; i < load.samples.size(); ++i) {
    if (i % 50 != 0) continue;
    load.samples[i].value += 1e8;
    hidden += 1e8;
  }
  Engine engine(OneCounter());
  load.Feed(&engine);
  const Solution solution = engine.Solve();
  EXPECT_GT(solution.totals[0].unattributed, 0.5 * hidden);
}

}  // namespace
}  // namespace utlz::attribution
