#include "collector/summary/steady_state_summary.h"

#include <algorithm>
#include <cmath>

namespace utlz {

// Devices of one job step together; the pauses are those of the device whose steps they are.
void SummarizeSteadyState(const RunState& state, const Analysis& analysis, Summary* summary) {
  uint64_t start_ns = UINT64_MAX;
  uint64_t end_ns = 0;
  const DevicePart* longest = nullptr;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const ConcurrencyTracker& sweep = state.devices[i].sweep;
    if (!state.devices[i].used || sweep.first_ns() == 0) continue;
    start_ns = std::min(start_ns, sweep.first_ns());
    end_ns = std::max(end_ns, sweep.last_ns());
    const DevicePart& part = analysis.devices[i].part;
    if (longest == nullptr || part.TimeNs() > longest->TimeNs()) longest = &part;
  }
  if (end_ns <= start_ns) return;
  SteadyStateSummary* window = summary->mutable_steady_state();
  const std::optional<StepsSpan>& steps = analysis.steady.steps;
  window->set_scope(steps.has_value() ? "steps" : "run");
  if (steps.has_value()) {
    start_ns = steps->start_ns;
    end_ns = steps->end_ns;
    longest = &analysis.devices[steps->device].part;
    window->set_pause_time_ns(longest->pause_ns);
    window->set_pauses(static_cast<uint64_t>(std::llround(longest->pauses)));
    if (longest->stall_ns > 0) window->set_held_up_time_ns(longest->stall_ns);
  }
  window->set_time_ns(longest->TimeNs());
  if (longest->slowdown_ns > 0) {
    window->set_slowdown_time_ns(longest->slowdown_ns);
    window->set_slowdown_error_ns(longest->slowdown_error_ns);
  }
  if (!state.run_start.has_value() || start_ns < state.run_start->time_ns()) return;
  window->set_start_ns(static_cast<double>(start_ns - state.run_start->time_ns()));
  window->set_end_ns(static_cast<double>(end_ns - state.run_start->time_ns()));
}

double MeanStepNs(const Summary& summary) {
  return summary.steady_state().scope() == "steps" ? summary.steps().time_mean_ns() : 0;
}

}  // namespace utlz
