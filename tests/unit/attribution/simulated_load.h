// A GPU in miniature: launches with known work and shape, seen through samples.
#ifndef UTLZ_TESTS_UNIT_ATTRIBUTION_SIMULATED_LOAD_H_
#define UTLZ_TESTS_UNIT_ATTRIBUTION_SIMULATED_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "collector/attribution/engine.h"

namespace utlz::attribution {

struct SimulatedKernel {
  uint64_t variant = 0;
  double duration_ns = 0;
  double work = 0;         // of one launch, counted in full
  double begin_share = 0;  // the work is done between these shares of the life
  double end_share = 1;
  double gap_after_ns = 0;
};

struct SimulationOptions {
  size_t steps = 400;
  double sample_ns = 5000;
  double shift_ns = 0;            // samples show the work this much later
  double drift_ns_per_ms = 0;     // of the shift
  double duration_jitter = 0.03;  // relative standard deviation; the work stays
  // Launches take from 1 - this to 1 + this times as long, and do as much more or less.
  double uneven_launches = 0;
  double work_noise = 0.02;  // relative standard deviation of a launch's work
  double gap_jitter = 1;     // 0: every gap is the same, so that steps fall in with samples
  double sample_noise = 0;   // relative standard deviation of a sample's count
  double idle_per_us = 0;
  double lost_samples = 0;  // share
  uint64_t seed = 1;
};

struct SimulatedLaunch {
  uint64_t variant;
  int64_t start_ns;
  int64_t end_ns;
};

struct SimulatedSample {
  int64_t start_ns;
  int64_t end_ns;
  double value;
};

// Of an engine that has the one counter of a simulated load.
Options OneCounter();

struct SimulatedLoad {
  std::vector<SimulatedLaunch> launches;
  std::vector<SimulatedSample> samples;

  // Gives everything to `engine`, whose Options have one counter.
  void Feed(Engine* engine) const;
  // The same as it would come in live: in batches of a few milliseconds.
  void Stream(Engine* engine) const;
};

// 3 to 15 kernels of `shortest_ns` to 30 us whose rates differ by a factor of a thousand, and which
// start and stop at once: the worst case for shapes that bend at knots only.
std::vector<SimulatedKernel> RandomStep(double shortest_ns, std::mt19937_64* random);

// Repeats the kernels in order.
SimulatedLoad Simulate(const std::vector<SimulatedKernel>& step, const SimulationOptions& options);

// Mean of the work of a variant's launches by the engine's answer.
double PerLaunch(const Solution& solution, uint64_t variant, size_t counter = 0);

}  // namespace utlz::attribution

#endif  // UTLZ_TESTS_UNIT_ATTRIBUTION_SIMULATED_LOAD_H_
