// The job's steps, counted so that they only grow, and how long they take now. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_
#define UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "collector/metrics/growing_count.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

class JobProgress {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;
  static constexpr double kFewestSteps = 3;
  static constexpr size_t kMostPoints = 4096;

  // `steps` are those that SummarizeSteps() found in `state`.
  void Update(const RunState& state, const StepsSummary& steps);
  // So many steps had begun by `time_ns`, by the latest estimate.
  void Update(uint64_t time_ns, double steps);

  // Nothing where no step was found.
  std::optional<double> steps() const;
  // Mean time from step to step, over kLengthNs or kFewestSteps, whichever is longer. Nothing where
  // fewer were seen.
  std::optional<double> step_seconds() const;

 private:
  struct Point {
    uint64_t time_ns;
    double steps;
  };

  GrowingCount count_;
  std::deque<Point> points_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_
