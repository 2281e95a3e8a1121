// Writes a planned run as the profile that utlz would have recorded: launches in the trace windows
// that the overhead budget allows, counters at the sampler's interval in sampling windows, and what
// NVML says five times a second.
//
// Nothing in it depends on the clock or the machine: the same plan and seed give the same bytes.
#ifndef UTLZ_BENCH_DIAGNOSIS_RUN_WRITER_H_
#define UTLZ_BENCH_DIAGNOSIS_RUN_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "bench/diagnosis/planned_run.h"

namespace utlz {

struct RunWriterOptions {
  bool everything = false;  // traced and sampled throughout, at any cost
};

absl::Status WritePlannedRun(const PlannedRun& run, const std::string& path,
                             const RunWriterOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_RUN_WRITER_H_
