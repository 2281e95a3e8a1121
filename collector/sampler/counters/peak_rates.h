// Dense operations per cycle and multiprocessor, by compute capability. Needed because PM sampling
// offers no counter whose peak would say it.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_PEAK_RATES_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_PEAK_RATES_H_

#include <span>

namespace utlz {

struct PeakRate {
  const char* data_type;   // as in DevicePeaks.Pipe
  double flops_per_cycle;  // of one multiprocessor; a fused multiply-add counts two
};

// Empty for a compute capability that is not in the table: its peaks are unknown, not guessed.
std::span<const PeakRate> PeakRates(int compute_capability_major, int compute_capability_minor);

// How many tensor pipes of one multiprocessor the counter of active cycles adds up.
double TensorPipesPerMultiprocessor(int compute_capability_major);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_PEAK_RATES_H_
