#include "collector/model/window_summary.h"

#include <algorithm>
#include <cmath>

namespace utlz {

// Devices of one job step together; the pauses are those of the device whose steps they are.
void SummarizeWindow(const ModelState& model, const Analysis& analysis, Summary* summary) {
  uint64_t start_ns = UINT64_MAX;
  uint64_t end_ns = 0;
  double time_ns = 0;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const ActivitySweep& sweep = model.devices[i].sweep;
    if (!model.devices[i].used || sweep.first_ns() == 0) continue;
    start_ns = std::min(start_ns, sweep.first_ns());
    end_ns = std::max(end_ns, sweep.last_ns());
    time_ns = std::max(time_ns, analysis.devices[i].part.TimeNs());
  }
  if (end_ns <= start_ns) return;
  WindowSummary* window = summary->mutable_window();
  const std::optional<StepsSpan>& steps = analysis.steady.steps;
  window->set_of(steps.has_value() ? "steps" : "run");
  if (steps.has_value()) {
    start_ns = steps->start_ns;
    end_ns = steps->end_ns;
    const DevicePart& part = analysis.devices[steps->device].part;
    time_ns = part.TimeNs();
    window->set_pause_time_ns(part.pause_ns);
    window->set_pauses(static_cast<uint64_t>(std::llround(part.pauses)));
  }
  window->set_time_ns(time_ns);
  if (!model.run_start.has_value() || start_ns < model.run_start->time_ns()) return;
  window->set_start_ns(static_cast<double>(start_ns - model.run_start->time_ns()));
  window->set_end_ns(static_cast<double>(end_ns - model.run_start->time_ns()));
}

double UsualStepNs(const Summary& summary) {
  if (summary.window().of() != "steps") return 0;
  const StepsSummary& steps = summary.steps();
  return summary.window().pauses() > 0 ? steps.time_p50_ns() : steps.time_mean_ns();
}

}  // namespace utlz
