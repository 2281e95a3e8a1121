// The job's steps, counted so that they only grow, and how long they take now. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_
#define UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "collector/analysis/steady_part.h"
#include "collector/metrics/growing_count.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

class JobProgress {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;
  static constexpr double kFewestSteps = 3;
  // Trace windows are closer together.
  static constexpr double kUnseenSeconds = 45;
  static constexpr double kUnseenSteps = 6;
  static constexpr size_t kMostPoints = 4096;

  // `steps` and `span` are what SummarizeSteps() found in `state`.
  void Update(const RunState& state, const StepsSummary& steps,
              const std::optional<StepsSpan>& span);
  // So many steps had begun by `now_ns`, by the latest estimate.
  void Update(double steps, uint64_t now_ns);
  // So many had ended by `time_ns`, the end of the last one that was traced. Those after it are
  // counted, but nobody knows until when.
  void Place(uint64_t time_ns, double steps);

  // Nothing where no step was found.
  std::optional<double> steps() const;
  // Mean time from step to step, over kLengthNs or kFewestSteps, whichever is longer, when steps
  // were seen last. Nothing where fewer were seen.
  std::optional<double> LastStepSeconds() const;
  // The same as of the last update: nothing where no step had been seen for so long that the job
  // hangs, or is recorded no more.
  std::optional<double> StepSeconds() const;

 private:
  struct Point {
    uint64_t time_ns;
    double steps;
  };

  GrowingCount count_;
  bool any_ = false;
  uint64_t now_ns_ = 0;  // of the last update
  std::deque<Point> points_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_JOB_PROGRESS_H_
