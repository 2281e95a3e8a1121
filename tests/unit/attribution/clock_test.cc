// The shift between two clocks that wander, as far as a run of minutes shows it: sampled in windows
// of 20 ms, as a run within its budget is.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

constexpr double kWindowSeconds = 1.5;  // from window to window
constexpr size_t kStepsOfAWindow = 800;

const std::vector<SimulatedKernel> kDecode = {
    {1, 5200, 8e6, 0, 1, 3000}, {2, 9000, 2e6, 0, 1, 5000}, {3, 2000, 4e5, 0, 1, 1000}};

Options WarmedUpLater() {
  Options options = OneCounter();
  options.warmup_samples = 16'384;
  return options;
}

// Adds the window that begins `seconds` after the start, of as many counters as there are shifts.
void AddWindow(double seconds, const std::vector<double>& shifts_ns, uint64_t seed,
               Engine* engine) {
  SimulationOptions simulation;
  simulation.steps = kStepsOfAWindow;
  simulation.sample_ns = 10'000;
  simulation.seed = seed;
  std::vector<SimulatedLoad> loads;  // the same launches
  for (const double shift_ns : shifts_ns) {
    simulation.shift_ns = shift_ns;
    loads.push_back(Simulate(kDecode, simulation));
  }
  const auto later_ns = static_cast<int64_t>(seconds * 1e9);
  for (const SimulatedLaunch& launch : loads[0].launches) {
    engine->AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns + later_ns,
                        launch.end_ns + later_ns);
  }
  std::vector<double> values(shifts_ns.size());
  for (size_t i = 0; i < loads[0].samples.size(); ++i) {
    const SimulatedSample& sample = loads[0].samples[i];
    for (size_t counter = 0; counter < values.size(); ++counter) {
      values[counter] = loads[counter].samples[i].value;
    }
    engine->AddSample(sample.start_ns + later_ns, sample.end_ns + later_ns, values);
  }
  engine->AdvanceTo(loads[0].samples.back().end_ns + later_ns + 1'000'000);
}

// Runs for `seconds`; returns the greatest error of the shift from `settled_s` on.
double WorstError(double seconds, double settled_s, uint64_t seed,
                  const std::function<double(double)>& shift_ns) {
  Engine engine(WarmedUpLater());
  double worst = 0;
  int window = 0;
  for (double now_s = 0; now_s < seconds; now_s += kWindowSeconds) {
    AddWindow(now_s, {shift_ns(now_s)}, seed + static_cast<uint64_t>(window), &engine);
    if (now_s < settled_s || ++window % 8 != 0) continue;
    const Solution solution = engine.Solve();
    if (!solution.shifts[0].shift_ns) return 1e9;
    worst = std::max(worst, std::abs(*solution.shifts[0].shift_ns - shift_ns(now_s)));
  }
  return worst;
}

// The real-time clock wanders as NTP steers it, the other side follows late.
TEST(Clock, AWanderingShiftIsTrackedForTenMinutes) {
  const auto wander = [](double seconds) {
    return -1000 + 1000 * std::sin(2 * M_PI * seconds / 300);
  };
  EXPECT_LT(WorstError(600, 30, 1, wander), 300);
}

TEST(Clock, SteadyDriftsAreTracked) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> rate(-30, 30);  // ns a second
  std::uniform_real_distribution<double> begin(-3000, 3000);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const double begin_ns = begin(random);
    const double ns_per_s = rate(random);
    const auto drift = [&](double seconds) { return begin_ns + ns_per_s * seconds; };
    EXPECT_LT(WorstError(90, 30, 100 * seed, drift), 300) << begin_ns << " ns, " << ns_per_s;
  }
}

TEST(Clock, AJumpIsFoundAgain) {
  for (const double jump_ns : {-9000.0, 2000.0, 6000.0}) {
    const auto jumping = [&](double seconds) { return seconds < 45 ? -1000 : -1000 + jump_ns; };
    EXPECT_LT(WorstError(90, 70, 7, jumping), 300) << jump_ns;
  }
}

// DRAM and SM counters are taken at different places of the chip.
TEST(Clock, EachGroupOfCountersHasAShiftOfItsOwn) {
  Options options = WarmedUpLater();
  options.counters = {{"reads", "dram"}, {"writes", "dram write"}, {"cycles", "sm"}};
  struct Case {
    std::array<double, 3> shifts_ns;
    std::array<double, 3> ns_per_s;
  };
  const std::array<Case, 3> cases = {{{{-1000, -300, 600}, {0, 0, 0}},
                                      {{-1100, -400, 200}, {20, 20, 20}},
                                      {{900, -200, 300}, {-12, 9, 0}}}};
  for (const Case& of : cases) {
    Engine engine(options);
    double now_s = 0;
    const auto shift_ns = [&](size_t group) {
      return of.shifts_ns[group] + of.ns_per_s[group] * now_s;
    };
    for (uint64_t seed = 300; now_s < 60; now_s += kWindowSeconds) {
      AddWindow(now_s, {shift_ns(0), shift_ns(1), shift_ns(2)}, seed++, &engine);
    }
    now_s -= kWindowSeconds;
    const Solution solution = engine.Solve();
    ASSERT_EQ(solution.shifts.size(), 3u);
    for (size_t group = 0; group < 3; ++group) {
      ASSERT_TRUE(solution.shifts[group].shift_ns.has_value()) << group;
      EXPECT_NEAR(*solution.shifts[group].shift_ns, shift_ns(group), 300)
          << solution.shifts[group].group;
      for (const SimulatedKernel& kernel : kDecode) {
        EXPECT_NEAR(PerLaunch(solution, kernel.variant, group), kernel.work, 3e5);
      }
    }
  }
}

// As seen on an H200 after an attach: off by some millionths for seconds, then corrected at once.
// All of it lies within the warm-up.
TEST(Clock, ADriftAtTheBeginningMovesNoCountToAnotherKernel) {
  const auto solve = [](double ns_per_s) {
    Engine engine(WarmedUpLater());
    uint64_t seed = 21;
    for (double now_s = 0; now_s < 6; now_s += 0.75) {
      AddWindow(now_s, {now_s < 4 ? -1500 + ns_per_s * now_s : -1500}, seed++, &engine);
    }
    return engine.Solve();
  };
  const Solution steady = solve(0);
  for (const double ns_per_s : {2400.0, 900.0, -900.0, -2400.0}) {
    const Solution drifted = solve(ns_per_s);
    for (const SimulatedKernel& kernel : kDecode) {
      EXPECT_NEAR(PerLaunch(drifted, kernel.variant), PerLaunch(steady, kernel.variant), 3e5)
          << kernel.variant << ", " << ns_per_s << " ns/s";
    }
    EXPECT_NEAR(drifted.shifts[0].used_shift_ns, steady.shifts[0].used_shift_ns, 600)
        << ns_per_s << " ns/s";
  }
}

// All of it lies within the warm-up, and nothing pauses where it happens.
TEST(Clock, AJumpAmongTheFirstSamplesMovesNoCountToAnotherKernel) {
  for (const int64_t jump_ns : {-7000, -2000, 3000, 9000}) {
    SimulationOptions simulation;
    simulation.steps = 8000;
    simulation.sample_ns = 5'000;
    simulation.shift_ns = -1000;
    SimulatedLoad load = Simulate(kDecode, simulation);
    for (size_t i = load.samples.size() / 2; i < load.samples.size(); ++i) {
      load.samples[i].start_ns += jump_ns;
      load.samples[i].end_ns += jump_ns;
    }
    Engine engine(WarmedUpLater());
    load.Feed(&engine);
    const Solution solution = engine.Solve();
    for (const SimulatedKernel& kernel : kDecode) {
      EXPECT_NEAR(PerLaunch(solution, kernel.variant), kernel.work, 3e5)
          << kernel.variant << ", " << jump_ns << " ns";
    }
  }
}

// Most runs begin with seconds in which the GPU has nothing to do, sampled all the same.
TEST(Clock, AShiftIsFoundInWorkThatFollowsALongIdleTime) {
  Engine engine(WarmedUpLater());
  const std::array<double, 1> nothing = {0};
  constexpr int64_t kSampleNs = 10'000;
  constexpr int64_t kIdleSamples = 10'000;
  for (int64_t at = 0; at < kIdleSamples; ++at) {
    engine.AddSample(at * kSampleNs, (at + 1) * kSampleNs, nothing);
  }
  AddWindow(1, {-1700}, 3, &engine);
  const ShiftEstimate shift = engine.Solve().shifts[0];
  ASSERT_TRUE(shift.shift_ns.has_value());
  EXPECT_NEAR(*shift.shift_ns, -1700, 300);
  EXPECT_LT(shift.uncertainty_ns, 300);
}

// Reads that begin late in every launch, since what a kernel takes first is still in the cache,
// look shifted by microseconds however well they agree on that: they are no measure for others.
TEST(Clock, ACounterThatLooksFarOffDoesNotMoveOneThatDoesNot) {
  Options options;
  options.counters = {{"reads", "dram"}, {"cycles", "sm"}};
  const std::vector<SimulatedKernel> late = {{1, 20e3, 8e6, 0.3, 1, 200},
                                             {2, 12e3, 1e6, 0.4, 1, 0}};
  const std::vector<SimulatedKernel> early = {{1, 20e3, 8e6, 0, 1, 200}, {2, 12e3, 1e6, 0, 1, 0}};
  SimulationOptions simulation;
  simulation.steps = 800;
  simulation.sample_ns = 10'000;
  simulation.shift_ns = -300;
  const SimulatedLoad reads = Simulate(late, simulation);
  simulation.sample_noise = 0.3;  // told less well
  const SimulatedLoad cycles = Simulate(early, simulation);
  Engine engine(options);
  for (const SimulatedLaunch& launch : reads.launches) {
    engine.AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns, launch.end_ns);
  }
  for (size_t i = 0; i < reads.samples.size(); ++i) {
    const std::array<double, 2> values = {reads.samples[i].value, cycles.samples[i].value};
    engine.AddSample(reads.samples[i].start_ns, reads.samples[i].end_ns, values);
  }
  engine.AdvanceTo(reads.samples.back().end_ns + 1'000'000);
  const Solution solution = engine.Solve();
  EXPECT_NEAR(solution.shifts[1].used_shift_ns, -300, 500);
  EXPECT_FALSE(solution.shifts[0].shift_ns.has_value());
}

// A look at nearly nothing must not move a shift that is known, nor claim one that is not.
TEST(Clock, PoorSamplesMoveNothing) {
  Options options = WarmedUpLater();
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Engine engine(options);
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> noise;
    SimulationOptions simulation;
    simulation.steps = 12;
    simulation.seed = seed;
    simulation.shift_ns = -1000;
    simulation.sample_ns = 10'000;
    SimulatedLoad load = Simulate(kDecode, simulation);
    for (SimulatedSample& sample : load.samples) sample.value *= noise(random);
    load.Feed(&engine);
    const ShiftEstimate shift = engine.Solve().shifts[0];
    EXPECT_LT(std::abs(shift.used_shift_ns + 1000), 1.5 * shift.uncertainty_ns) << seed;
    EXPECT_LT(std::abs(shift.used_shift_ns + 1000), 2500) << seed;
    EXPECT_GT(shift.uncertainty_ns, 100) << seed;
  }
}

}  // namespace
}  // namespace utlz::attribution
