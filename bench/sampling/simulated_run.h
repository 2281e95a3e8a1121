// A run that never was, second by second on a clock of its own: a load, an agent that keeps the
// real account for tracing, the real planner and pace of the collector, a simulated sampler with
// the real accounts, and the real model, which says what a report would say.
#ifndef UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_
#define UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_

#include <cstdint>
#include <optional>

#include "bench/sampling/simulated_sampler.h"
#include "bench/sampling/start_up_load.h"

namespace utlz {

struct SimulationOptions {
  StartUpOptions load;
  uint64_t steps_ns = 20'000'000'000;  // for how long it steps
  SamplerCosts costs;
};

// How well the report knows the kernels with at least 1 % of the steps' time: half-widths of the
// stated 95 % intervals ÷ the value, the widest; 1 where one has none.
struct ReportPrecision {
  bool any_bytes = false;
  double bytes = 1;
  double tensor_flops = 1;
  // The largest error against what the load did.
  double bytes_error = 1;
  double tensor_flops_error = 1;
};

struct SimulationResult {
  // Seconds of steps until the report was so good, for good.
  std::optional<double> first_bytes, all_bytes, good, better;
  ReportPrecision last;
  double cpu_start_up_seconds = 0, cpu_steps_seconds = 0;  // of the sampler
  double sampled_share = 0;                                // of the steps
  double traced_share = 0;
  uint64_t samples_start_up = 0, samples_steps = 0;
};

// Bytes within ± 10 % and tensor FLOPs within ± 5 %; ± 5 % and ± 4 %.
bool IsGood(const ReportPrecision& precision);
bool IsBetter(const ReportPrecision& precision);

SimulationResult SimulateRun(const RecordedLoad& recorded, const SimulationOptions& options);

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_
