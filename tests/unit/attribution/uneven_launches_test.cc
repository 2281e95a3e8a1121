// Intervals of kernels whose launches do widely different work, such as experts with uneven
// batches: samples that fall on longer or shorter launches than usual say nothing of all.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "collector/attribution/column_statistics.h"
#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

constexpr uint64_t kSeeds = 60;
constexpr int64_t kPeriodNs = 2'000'000;
constexpr int64_t kWindowNs = 200'000;
const std::vector<SimulatedKernel> kUnevenStep = {
    {1, 20'000, 40e6, 0, 1, 2000}, {2, 30'000, 9e6, 0, 1, 2000}, {3, 25'000, 20e6, 0, 1, 3000}};

bool IsSampled(int64_t start_ns) { return start_ns % kPeriodNs < kWindowNs; }

// All launches, and samples of a tenth of the time.
Solution SeenInWindows(const SimulatedLoad& load, const Options& options) {
  Engine engine(options);
  for (const SimulatedLaunch& launch : load.launches) {
    engine.AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns, launch.end_ns);
  }
  for (const SimulatedSample& sample : load.samples) {
    if (!IsSampled(sample.start_ns)) continue;
    engine.AddSample(sample.start_ns, sample.end_ns, std::array<double, 1>{sample.value});
  }
  engine.AdvanceTo(load.samples.back().end_ns + 1'000'000);
  return engine.Solve();
}

// Of all launches that the column is of.
double MeanDurationNs(const SimulatedLoad& load, const ColumnEstimate& column) {
  double sum_ns = 0;
  double launches = 0;
  for (const SimulatedLaunch& launch : load.launches) {
    const int64_t duration_ns = launch.end_ns - launch.start_ns;
    if (launch.variant != column.variant || duration_ns < column.min_duration_ns ||
        duration_ns >= column.max_duration_ns) {
      continue;
    }
    sum_ns += static_cast<double>(duration_ns);
    ++launches;
  }
  return sum_ns / launches;
}

struct Intervals {
  double count = 0;
  double held = 0;
  double widths = 0;  // shares of the truth

  double Share() const { return held / count; }
  double MeanWidth() const { return widths / count; }
};

Intervals Measure(const SimulationOptions& simulation, bool work_goes_by_time) {
  Options options = OneCounter();
  options.reproducibility = 0;
  Intervals intervals;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimulationOptions seeded = simulation;
    seeded.seed = seed;
    const SimulatedLoad load = Simulate(kUnevenStep, seeded);
    for (const ColumnEstimate& column : SeenInWindows(load, options).columns) {
      if (column.variant < 1 || column.variant > kUnevenStep.size()) continue;
      const SimulatedKernel& kernel = kUnevenStep[column.variant - 1];
      const double times =
          work_goes_by_time ? MeanDurationNs(load, column) / kernel.duration_ns : 1;
      const double width = 1.959964 * *column.counters[0].standard_error;
      const double off = std::abs(*column.counters[0].per_launch - times * kernel.work);
      ++intervals.count;
      intervals.held += off <= width ? 1 : 0;
      intervals.widths += width / (times * kernel.work);
    }
  }
  std::printf("%.0f of %.0f hold, mean width %.1f %%\n", intervals.held, intervals.count,
              100 * intervals.MeanWidth());
  return intervals;
}

TEST(UnevenLaunches, OfWorkThatGoesByTimeAreAsWellKnownAsEvenOnes) {
  SimulationOptions uneven;
  uneven.uneven_launches = 0.8;
  SimulationOptions even;
  even.uneven_launches = 0;
  const Intervals of_uneven = Measure(uneven, true);
  EXPECT_GE(of_uneven.Share(), 0.9);
  EXPECT_LE(of_uneven.MeanWidth(), 2 * Measure(even, true).MeanWidth());
}

// How long a launch takes says nothing here of what it does.
TEST(UnevenLaunches, OfOneWorkAreNotTakenForMore) {
  SimulationOptions simulation;
  simulation.duration_jitter = 0.15;
  EXPECT_GE(Measure(simulation, false).Share(), 0.9);
}

TEST(UnevenLaunches, FewOfThemHoldTheTruth) {
  SimulationOptions simulation;
  simulation.uneven_launches = 0.8;
  simulation.steps = 150;
  EXPECT_GE(Measure(simulation, true).Share(), 0.88);
}

// Where nobody samples, a GPU gets warmer and its clock slower: launches take longer, and do the
// same.
TEST(UnevenLaunches, ThatClocksMadeLongerDoNoMore) {
  SimulationOptions simulation;
  simulation.uneven_launches = 0.2;
  simulation.steps = 2000;
  const SimulatedLoad planned = Simulate(kUnevenStep, simulation);
  SimulatedLoad load = planned;
  for (SimulatedLaunch& launch : load.launches) {
    if (!IsSampled(launch.start_ns)) launch.end_ns += (launch.end_ns - launch.start_ns) * 6 / 100;
  }
  for (const ColumnEstimate& column : SeenInWindows(load, OneCounter()).columns) {
    if (column.variant < 1 || column.variant > kUnevenStep.size()) continue;
    const SimulatedKernel& kernel = kUnevenStep[column.variant - 1];
    const double work = kernel.work * MeanDurationNs(planned, column) / kernel.duration_ns;
    EXPECT_NEAR(*column.counters[0].per_launch, work, 0.025 * work);
  }
}

// Launches of 1, 2, 3 ... ns, whose value is `value` at `nanoseconds`.
template <typename Value>
ColumnStatistics LaunchesOf(int count, Value value) {
  ColumnStatistics statistics;
  for (int nanoseconds = 1; nanoseconds <= count; ++nanoseconds) {
    statistics.AddLaunch(value(nanoseconds), nanoseconds, {});
    statistics.AddWhole(value(nanoseconds), value(nanoseconds), 0, nanoseconds);
  }
  return statistics;
}

TEST(UnevenLaunches, ShowWhetherLongerOnesDoMore) {
  const ColumnStatistics in_proportion = LaunchesOf(19, [](int ns) { return 3.0 * ns; });
  EXPECT_DOUBLE_EQ(in_proportion.per_launch(), 30);
  EXPECT_DOUBLE_EQ(in_proportion.LongerNs(15), 5);
  EXPECT_DOUBLE_EQ(in_proportion.PerLongerLaunch(5), 45);
  EXPECT_NEAR(in_proportion.VarianceBesideSlope(), 0, 1e-9);
  EXPECT_EQ(in_proportion.GuessedOfLonger(5), 0);
  const ColumnStatistics same = LaunchesOf(19, [](int ns) { return ns % 2 == 0 ? 29.0 : 31.0; });
  EXPECT_NEAR(same.PerLongerLaunch(5), same.per_launch(), 0.5);
}

TEST(UnevenLaunches, FurtherFromThoseThatWereSeenAreLessSure) {
  const ColumnStatistics statistics =
      LaunchesOf(19, [](int ns) { return 3.0 * ns + (ns % 2 == 0 ? 1 : -1); });
  EXPECT_DOUBLE_EQ(statistics.Leverage(0), 1);
  EXPECT_GT(statistics.Leverage(5), 1.5);
}

// What they do may be anything between the same and in proportion.
TEST(UnevenLaunches, OfWhichFewWereSeenAreGuessed) {
  const ColumnStatistics few = LaunchesOf(3, [](int ns) { return 3.0 * ns; });
  EXPECT_FALSE(few.KnowsSlope());
  EXPECT_DOUBLE_EQ(few.PerLongerLaunch(2), 9);
  EXPECT_DOUBLE_EQ(few.GuessedOfLonger(2), 3);
}

}  // namespace
}  // namespace utlz::attribution
