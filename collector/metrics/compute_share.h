// FLOPs between two moments as a share of the peak. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_METRICS_COMPUTE_SHARE_H_
#define UTLZ_COLLECTOR_METRICS_COMPUTE_SHARE_H_

#include <cstdint>
#include <optional>

#include "collector/metrics/work_ledger.h"
#include "collector/run/process_table.h"

namespace utlz {

// Up to when a process's kernels are known: where it is traced, none came since.
uint64_t KernelsKnownNs(const ProcessState& process);

// Kernels are known up to `from_known_ns` and `to_known_ns`. Kernels that no counter met are taken
// to work as the others. Nothing where most are such, or the time is too short to speak of.
std::optional<double> ShareOfPeak(const ComputeWork& from, uint64_t from_known_ns,
                                  const ComputeWork& to, uint64_t to_known_ns);

// FLOPs that the model needs as a share of the peak. Nothing where one of the numbers is not known,
// or above 1, as in the report: then the FLOPs given are not those of the steps.
std::optional<double> MfuOf(std::optional<double> step_seconds, double flops_per_step,
                            double peak_flops_per_second);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_COMPUTE_SHARE_H_
