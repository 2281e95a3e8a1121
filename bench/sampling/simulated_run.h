// A run that never was, second by second on a clock of its own: a load, an agent that keeps the
// real account for tracing, the real planner and pace of the collector, a simulated sampler with
// the real accounts, and the real model, which says what a report would say.
#ifndef UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_
#define UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_

#include <cstdint>
#include <optional>

#include "bench/sampling/report_precision.h"
#include "bench/sampling/simulated_sampler.h"
#include "bench/sampling/start_up_load.h"

namespace utlz {

struct SimulationOptions {
  StartUpOptions load;
  uint64_t steps_ns = 20'000'000'000;  // for how long it steps
  SamplerCosts costs;
  // Records end for good so long after the program's start: decided by
  // inject/tracing/later_windows.h in programs whose launches cost them time. None: as the account
  // for tracing has it.
  std::optional<uint64_t> recorded_ns;
  // A collector and a sampler that know nothing of records that end, as they were once.
  bool blind_to_records = false;
  uint32_t idle_cpu_ppm = 0;   // of idle cores, for the sampler
  bool power_limited = false;  // the steps are: counters that are set slow them
};

struct SimulationResult {
  // Seconds of steps until the report was so good, for good.
  std::optional<double> first_bytes, all_bytes, good, better;
  ReportPrecision last;
  double cpu_start_up_seconds = 0, cpu_steps_seconds = 0;  // of the sampler
  double sampled_share = 0;                                // of the steps
  double traced_share = 0;
  uint64_t samples_start_up = 0, samples_steps = 0;
  uint64_t samples_recorded =
      0;                         // while kernels were recorded without a pause, from the first step
  uint64_t samples_useless = 0;  // once records had ended
  double recorded_share = 0;     // of the steps' time in which they were, this was sampled
  double counters_cost_share = 0;  // of the steps
};

SimulationResult SimulateRun(const RecordedLoad& recorded, const SimulationOptions& options);

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_SIMULATED_RUN_H_
