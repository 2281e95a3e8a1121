// Windows for new work: what is new between two windows is traced soon, since it may be over, or
// rare, when the next planned one comes.
//
// Agent's thread, InitializeInjection before that exists, and the thread of another client that
// takes CUPTI over, while the agent's waits.
#ifndef UTLZ_INJECT_TRACING_NEW_WORK_WINDOWS_H_
#define UTLZ_INJECT_TRACING_NEW_WORK_WINDOWS_H_

#include <cstdint>

#include "inject/record/first_launch_watch.h"
#include "inject/tracing/trace_budget.h"
#include "inject/tracing/trace_request.h"

namespace utlz::agent {

class NewWorkWindows {
 public:
  NewWorkWindows(const CuptiApi& cupti, const CudaApi& cuda) { watch_.Create(&cupti, &cuda); }

  // For another collector.
  void Restart();
  // Has CUPTI report new work, or no more, as the request says; `taken`: another client has the
  // buffers, and nothing of CUPTI's is touched.
  void Watch(const TraceRequest& request, bool taken);
  // Switches the reports off: another client is about to take the buffers.
  void StopWatching() { watch_.Off(); }
  // Plans a window if there is new work: `reports` of it so far, and whether `tracing` is on. Where
  // the account is overdrawn, as soon as it is not.
  void Follow(uint64_t now_ns, uint64_t reports, bool tracing, const TraceBudget& budget);
  // The last one that was planned.
  const PlannedWindow& window() const { return window_; }

 private:
  FirstLaunchWatch watch_;
  uint64_t reports_seen_ = 0;
  bool has_new_work_ = false;  // which no window has been opened for
  PlannedWindow window_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_NEW_WORK_WINDOWS_H_
