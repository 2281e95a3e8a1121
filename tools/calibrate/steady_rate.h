// How fast a piece of work goes once the GPU has warmed up, its clock settled
// and its power capped: the median of batches that are each long enough to
// time.
#ifndef UTLZ_TOOLS_CALIBRATE_STEADY_RATE_H_
#define UTLZ_TOOLS_CALIBRATE_STEADY_RATE_H_

#include <chrono>
#include <functional>

#include "absl/status/statusor.h"
#include "tools/calibrate/gpu.h"

namespace utlz {

struct SteadyRateOptions {
  double warmup_ms = 300;
  double measured_ms = 1000;
  double batch_ms = 20;
  // Nothing goes on for longer, whatever the GPU takes.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Called while a batch runs; may be empty.
  std::function<void()> while_running = {};
};

// Milliseconds of one piece. `enqueue` puts one on the GPU's stream and does
// not wait. DeadlineExceeded where time was up before the first batch was
// measured.
absl::StatusOr<double> SteadyMs(const Gpu& gpu, const std::function<absl::Status()>& enqueue,
                                const SteadyRateOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_STEADY_RATE_H_
