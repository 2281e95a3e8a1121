#include "collector/analysis/device_view.h"

#include <algorithm>

namespace utlz {
namespace {

double ScaleOf(const std::vector<const KernelRow*>& rows) {
  double run_ns = 0;
  double traced_ns = 0;
  for (const KernelRow* row : rows) {
    run_ns += row->time_ns;
    traced_ns += row->own_share * static_cast<double>(row->durations.sum_ns());
  }
  return traced_ns > 0 ? std::max(1.0, run_ns / traced_ns) : 1;
}

}  // namespace

DeviceView ViewOf(const RunState& run_state, const Analysis& analysis, uint32_t device) {
  DeviceView view = {.run_state = run_state,
                     .state = run_state.devices[device],
                     .analysis = analysis.devices[device],
                     .steps = analysis.steady.steps,
                     .rows = {}};
  for (const KernelRow& row : analysis.rows) {
    if (run_state.kernels[row.kernel].device == device) view.rows.push_back(&row);
  }
  view.scale = ScaleOf(view.rows);
  return view;
}

Extent WindowOf(const DeviceView& view) {
  const ConcurrencyTracker& sweep = view.state.sweep;
  return {.time_ns = view.analysis.part.TimeNs(),
          .kernel_share = view.analysis.part.kernel_share,
          .kernel_weight = view.analysis.part.kernel_weight,
          .steady = true,
          .start_ns = view.steps.has_value() ? view.steps->start_ns : sweep.first_ns(),
          .end_ns = view.steps.has_value() ? view.steps->end_ns : sweep.last_ns()};
}

Extent RunOf(const DeviceView& view) {
  const ConcurrencyTracker& sweep = view.state.sweep;
  const uint64_t span_ns = sweep.last_ns() - sweep.first_ns();
  return {.time_ns = static_cast<double>(span_ns - std::min(span_ns, sweep.UntracedNs())),
          .start_ns = sweep.first_ns(),
          .end_ns = sweep.last_ns()};
}

double ShareIn(const KernelRow& row, const Extent& extent) {
  return extent.steady ? row.steady_share : 1;
}

double LaunchesIn(const KernelRow& row, const Extent& extent) {
  const double share = extent.steady ? row.traced_steady_share : 1;
  return static_cast<double>(row.durations.count()) * share * extent.kernel_weight;
}

double SpanNs(const DeviceView& view) {
  return static_cast<double>(view.state.sweep.last_ns() - view.state.sweep.first_ns());
}

}  // namespace utlz
