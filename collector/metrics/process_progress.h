// How long the steps of each process of a run take now, for those that live. Bounded: beyond
// kMostProcesses nothing is known. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_PROCESS_PROGRESS_H_
#define UTLZ_COLLECTOR_METRICS_PROCESS_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "collector/metrics/job_progress.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

class ProcessProgress {
 public:
  static constexpr size_t kMostProcesses = 128;

  // `of_run` and its span are what SummarizeSteps() found. A process that works alone has these
  // steps; of others their own are looked for.
  void Update(const RunState& run_state, const StepsSummary& of_run,
              const std::optional<StepsSpan>& span);

  // Nothing where the process has no steps, or has ended.
  std::optional<double> StepSeconds(uint32_t source) const;

 private:
  std::map<uint32_t, JobProgress> progress_;  // by source
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_PROCESS_PROGRESS_H_
