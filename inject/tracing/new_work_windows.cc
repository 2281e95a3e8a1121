#include "inject/tracing/new_work_windows.h"

#include "proto/ring_abi.h"

namespace utlz::agent {

void NewWorkWindows::Restart() {
  reports_seen_ = 0;
  has_new_work_ = false;
  window_ = {};
}

void NewWorkWindows::Watch(const TraceRequest& request, bool taken) {
  if (taken) {
    watch_.Lost();
  } else if (request.wanted && request.budget_ppm != 0 && (request.flags & kTraceNewWork) != 0) {
    watch_.On();
  } else {
    watch_.Off();
  }
}

void NewWorkWindows::Follow(uint64_t now_ns, uint64_t reports, bool tracing,
                            const TraceBudget& budget) {
  constexpr uint64_t kPauseNs = 1'000'000'000;
  if (reports != reports_seen_) has_new_work_ = watch_.on();
  reports_seen_ = reports;
  if (tracing) has_new_work_ = false;
  if (!has_new_work_ || now_ns < window_.end_ns) return;
  if (window_.end_ns != 0 && now_ns < window_.end_ns + kPauseNs) return;
  const PlannedWindow window = budget.Unplanned(now_ns);
  if (window.end_ns != 0) window_ = window;
}

}  // namespace utlz::agent
