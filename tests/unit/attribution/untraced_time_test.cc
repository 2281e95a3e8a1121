// What the engine makes of time in which nobody recorded launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

// A decode that is traced one tenth of the time and works all of it: what it does untraced must
// not become a background that hides the small kernels.
TEST(UntracedTime, SamplesOfUntracedTimeTeachNothing) {
  const std::vector<SimulatedKernel> step = {{1, 5200, 8e6, 0.0, 0.8, 3000},
                                             {2, 2400, 5e4, 0.1, 0.9, 4000},
                                             {3, 4300, 1e6, 0.2, 0.9, 2000}};
  SimulationOptions simulation;
  simulation.steps = 3000;
  SimulatedLoad load = Simulate(step, simulation);
  const int64_t begin_ns = load.samples.front().start_ns;
  const int64_t end_ns = load.samples.back().end_ns;
  const int64_t from_ns = begin_ns + (end_ns - begin_ns) / 2;
  const int64_t to_ns = from_ns + (end_ns - begin_ns) / 10;
  // A launch is recorded whole or not at all, and the first ones after the switch are not.
  std::erase_if(load.launches, [&](const SimulatedLaunch& launch) {
    return launch.start_ns < from_ns + 40'000 || launch.end_ns > to_ns - 40'000;
  });
  for (const bool told : {true, false}) {
    Engine engine(OneCounter());
    if (told) {
      engine.AddUntraced(0, from_ns);
      engine.AddUntraced(to_ns, end_ns);
      engine.AddUntraced(to_ns, std::numeric_limits<int64_t>::max());  // told again, further on
    }
    load.Feed(&engine);
    const Solution solution = engine.Solve();
    const CounterTotals& totals = solution.totals[0];
    EXPECT_NEAR(totals.attributed + totals.idle + totals.unattributed, totals.counted,
                1e-9 * totals.counted);
    EXPECT_EQ(solution.quality.samples + solution.quality.untraced_samples, load.samples.size());
    if (told) {
      EXPECT_GT(totals.attributed, 0.999 * totals.counted);
      EXPECT_NEAR(PerLaunch(solution, 1) / 8e6, 1, 0.02);
      EXPECT_NEAR(PerLaunch(solution, 2) / 5e4, 1, 0.3);
      EXPECT_LT(solution.quality.missing_sample_ns, 1'000'000);
    } else {
      EXPECT_LT(totals.attributed, 0.3 * totals.counted)
          << "this load does not show what it is for";
    }
  }
}

// Windows of tracing come and go while samples stream in; each gap is told when it ends, and before
// that as far as it is known.
TEST(UntracedTime, UntracedTimeIsKnownAsItGrows) {
  Options options = OneCounter();
  options.warmup_samples = 1000;
  Engine engine(options);
  constexpr int64_t kSampleNs = 10'000;
  constexpr int64_t kPeriod = 1000;  // samples; traced in the first half
  const std::array<double, 1> working = {1000};
  uint64_t traced = 0;
  for (int64_t i = 0; i < 20 * kPeriod; ++i) {
    const int64_t start_ns = 1'000'000'000 + i * kSampleNs;
    const bool is_traced = i % kPeriod < kPeriod / 2;
    traced += is_traced ? 1 : 0;
    if (is_traced) {
      engine.AddInterval(1, IntervalKind::kKernel, start_ns + 100, start_ns + kSampleNs - 100);
    }
    engine.AddSample(start_ns, start_ns + kSampleNs, working);
    if (i % 100 != 99) continue;
    const int64_t window_end_ns =
        start_ns - (i % kPeriod - kPeriod / 2 + 1) * kSampleNs + kSampleNs;
    if (!is_traced) engine.AddUntraced(window_end_ns, start_ns + kSampleNs);
    engine.AdvanceTo(start_ns + kSampleNs);
  }
  engine.AdvanceTo(2'000'000'000);
  const Solution solution = engine.Solve();
  EXPECT_LE(solution.quality.samples, traced);
  EXPECT_GE(solution.quality.samples, traced - 20 * 3);
  EXPECT_GT(solution.totals[0].attributed, 0.99 * solution.totals[0].counted);
  EXPECT_NEAR(PerLaunch(solution, 1), 1000, 20);
}

// A pause begins while launches are under way, which are recorded to their ends. When it is over,
// those that were launched in it run first, without a record.
TEST(UntracedTime, LaunchesUnderWayWhenAPauseBeginsDoNotEndIt) {
  Options options = OneCounter();
  options.warmup_samples = 1000;
  Engine engine(options);
  constexpr int64_t kSampleNs = 10'000;
  constexpr int64_t kPeriod = 1000;  // samples; of them
  constexpr int64_t kPauseFrom = 400;
  constexpr int64_t kUnderWayTo = 450;
  constexpr int64_t kPauseTo = 500;
  constexpr int64_t kRecordedFrom = 700;
  constexpr int64_t kPeriods = 20;
  const std::array<double, 1> working = {1000};
  for (int64_t i = 0; i < kPeriods * kPeriod; ++i) {
    const int64_t start_ns = 1'000'000'000 + i * kSampleNs;
    const int64_t at = i % kPeriod;
    if (at < kUnderWayTo || at >= kRecordedFrom) {
      engine.AddInterval(1, IntervalKind::kKernel, start_ns + 100, start_ns + kSampleNs - 100);
    }
    engine.AddSample(start_ns, start_ns + kSampleNs, working);
    if (at == kPauseTo) {
      engine.AddUntraced(start_ns - (kPauseTo - kPauseFrom) * kSampleNs, start_ns);
    }
    if (at == kPeriod - 1) engine.AdvanceTo(start_ns + kSampleNs);
  }
  engine.AdvanceTo(2'000'000'000);
  const Solution solution = engine.Solve();
  const double known = kPeriods * (kPeriod - (kRecordedFrom - kPauseFrom));
  EXPECT_NEAR(static_cast<double>(solution.quality.samples), known, kPeriods * 4);
  EXPECT_GT(solution.totals[0].attributed, 0.999 * solution.totals[0].counted);
  EXPECT_NEAR(PerLaunch(solution, 1), 1000, 20);
}

// Launches of several threads come in any order, and wait for samples that come later.
TEST(UntracedTime, TheOrderInWhichLaunchesComeDoesNotMatter) {
  const std::vector<SimulatedKernel> step = {{1, 5200, 8e6, 0.0, 0.8, 3000},
                                             {2, 2400, 5e4, 0.1, 0.9, 4000}};
  SimulationOptions simulation;
  simulation.steps = 2000;
  SimulatedLoad load = Simulate(step, simulation);
  const int64_t begin_ns = load.samples.front().start_ns;
  const int64_t part_ns = (load.samples.back().end_ns - begin_ns) / 8;
  std::erase_if(load.launches, [&](const SimulatedLaunch& launch) {
    return (launch.start_ns - begin_ns) / part_ns % 2 == 1;
  });
  const auto solve = [&](bool in_order) {
    Engine engine(OneCounter());
    for (int part = 1; part < 8; part += 2) {
      engine.AddUntraced(begin_ns + part * part_ns, begin_ns + (part + 1) * part_ns);
    }
    // Those of even numbers come later than the others, in batches.
    constexpr size_t kBatch = 300;
    std::vector<SimulatedLaunch> launches;
    for (size_t first = 0; first < load.launches.size(); first += kBatch) {
      const size_t last = std::min(first + kBatch, load.launches.size());
      for (const size_t odd : {1, 0}) {
        for (size_t i = first; i < last; ++i) {
          if (i % 2 == odd) launches.push_back(load.launches[i]);
        }
      }
    }
    size_t count = 0;
    for (const SimulatedLaunch& launch : in_order ? load.launches : launches) {
      engine.AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns, launch.end_ns);
      // No samples yet, so that none is done with.
      if (++count % 100 == 0) engine.AdvanceTo(begin_ns);
    }
    for (const SimulatedSample& sample : load.samples) {
      const std::array<double, 1> values = {sample.value};
      engine.AddSample(sample.start_ns, sample.end_ns, values);
      if (++count % 100 == 0) engine.AdvanceTo(sample.start_ns);
    }
    engine.AdvanceTo(load.samples.back().end_ns + 1'000'000);
    return engine.Solve();
  };
  const Solution ordered = solve(true);
  const Solution mixed = solve(false);
  EXPECT_GT(ordered.quality.untraced_samples, load.samples.size() / 3);
  EXPECT_EQ(ordered.quality.untraced_samples, mixed.quality.untraced_samples);
  EXPECT_EQ(ordered.quality.samples, mixed.quality.samples);
  EXPECT_EQ(PerLaunch(ordered, 1), PerLaunch(mixed, 1));
  EXPECT_EQ(PerLaunch(ordered, 2), PerLaunch(mixed, 2));
}

// The last records of a program that was killed are known to be lost before the samples of the time
// until then are looked at.
TEST(UntracedTime, UntracedTimeToComeSaysNothingOfSamplesBeforeIt) {
  Engine engine(OneCounter());
  constexpr int64_t kSampleNs = 10'000;
  constexpr int64_t kSamples = 2000;
  constexpr int64_t kBeginNs = 1'000'000'000;
  constexpr int64_t kLostFromNs = kBeginNs + kSamples / 2 * kSampleNs;
  const std::array<double, 1> working = {1000};
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t start_ns = kBeginNs + i * kSampleNs;
    if (start_ns < kLostFromNs) {
      engine.AddInterval(1, IntervalKind::kKernel, start_ns + 100, start_ns + kSampleNs - 100);
    }
    engine.AddSample(start_ns, start_ns + kSampleNs, working);
  }
  engine.AddUntraced(kLostFromNs, kBeginNs + kSamples * kSampleNs);
  engine.AdvanceTo(kLostFromNs - 100);
  engine.AdvanceTo(2'000'000'000);
  const Solution solution = engine.Solve();
  EXPECT_NEAR(static_cast<double>(solution.quality.samples), kSamples / 2, 10);
  EXPECT_NEAR(PerLaunch(solution, 1), 1000, 20);
}

}  // namespace
}  // namespace utlz::attribution
