// Whether 95 % intervals hold the truth about as often as they say, over loads of many kinds.
//
// The truth that an interval is held to is another measurement of the same kernel, which differs
// from this one by Options::reproducibility, as caches, neighbours and clocks make it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

struct LoadKind {
  const char* name;
  SimulationOptions simulation;
  double shortest_ns = 1000;
  bool second_stream = false;
};

std::vector<LoadKind> LoadKinds() {
  std::vector<LoadKind> kinds;
  const auto add = [&](const char* name) {
    kinds.push_back({name, {}});
    kinds.back().simulation.steps = 150;
    kinds.back().simulation.shift_ns = -1000;
    return &kinds.back();
  };
  add("plain");
  add("coarse samples")->simulation.sample_ns = 20'000;
  add("in step")->simulation.gap_jitter = 0;
  add("short kernels")->shortest_ns = 300;
  add("two streams")->second_stream = true;
  add("drifting clock")->simulation.drift_ns_per_ms = 10;
  add("noisy samples")->simulation.sample_noise = 0.05;
  add("uneven work")->simulation.work_noise = 0.2;
  add("lost samples")->simulation.lost_samples = 0.1;
  add("few launches")->simulation.steps = 15;
  return kinds;
}

void AddSecondStream(const std::vector<SimulatedKernel>& step, SimulationOptions simulation,
                     SimulatedLoad* load) {
  std::vector<SimulatedKernel> other = step;
  for (SimulatedKernel& kernel : other) kernel.variant += 100;
  std::reverse(other.begin(), other.end());
  simulation.seed += 1000;
  const SimulatedLoad second = Simulate(other, simulation);
  const size_t samples = std::min(load->samples.size(), second.samples.size());
  load->samples.resize(samples);
  for (size_t i = 0; i < samples; ++i) load->samples[i].value += second.samples[i].value;
  const int64_t end_ns = load->samples.back().start_ns - 40'000;
  load->launches.insert(load->launches.end(), second.launches.begin(), second.launches.end());
  std::erase_if(load->launches,
                [end_ns](const SimulatedLaunch& launch) { return launch.end_ns > end_ns; });
}

struct Calibration {
  size_t intervals = 0;
  size_t held = 0;
};

void Measure(const LoadKind& kind, uint64_t seed, Calibration* calibration) {
  std::mt19937_64 random(977 * seed);
  const std::vector<SimulatedKernel> step = RandomStep(kind.shortest_ns, &random);
  SimulationOptions simulation = kind.simulation;
  simulation.seed = seed;
  SimulatedLoad load = Simulate(step, simulation);
  if (kind.second_stream) AddSecondStream(step, simulation, &load);
  Options options;
  options.counters = {{"bytes", "dram"}};
  Engine engine(options);
  load.Feed(&engine);
  const Solution solution = engine.Solve();
  std::normal_distribution<double> normal;
  for (const ColumnEstimate& column : solution.columns) {
    const uint64_t variant = column.variant > 100 ? column.variant - 100 : column.variant;
    if (variant == 0 || variant > step.size() || column.parts != 1 || column.group) continue;
    const SimulatedKernel& kernel = step[variant - 1];
    if (kernel.duration_ns <= 3000 || !column.counters[0].per_launch) continue;
    const double truth = kernel.work * (1 + options.reproducibility * normal(random));
    const double half_width = 1.959964 * *column.counters[0].standard_error;
    ++calibration->intervals;
    calibration->held += std::abs(*column.counters[0].per_launch - truth) <= half_width ? 1 : 0;
  }
}

TEST(IntervalCalibration, HoldsTheTruthAboutAsOftenAsItSays) {
  Calibration all;
  for (const LoadKind& kind : LoadKinds()) {
    Calibration calibration;
    for (uint64_t seed = 1; seed <= 12; ++seed) Measure(kind, seed, &calibration);
    const double share =
        static_cast<double>(calibration.held) / static_cast<double>(calibration.intervals);
    EXPECT_GE(share, 0.85) << kind.name;
    all.intervals += calibration.intervals;
    all.held += calibration.held;
  }
  const double share = static_cast<double>(all.held) / static_cast<double>(all.intervals);
  RecordProperty("intervals", static_cast<int>(all.intervals));
  RecordProperty("held", static_cast<int>(all.held));
  EXPECT_GE(share, 0.90);
  EXPECT_LE(share, 0.99) << "intervals that hold everything say nothing";
}

}  // namespace
}  // namespace utlz::attribution
