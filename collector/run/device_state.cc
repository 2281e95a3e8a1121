#include "collector/run/device_state.h"

namespace utlz {

void DeviceState::OnActivity(const Activity& activity) {
  sweep.Add(activity);
  shared_time.Add(activity);
  gap_sites.Add(activity);
  graph_waits.Add(activity);
  idle_by_stack.Add(activity);
  ledger.AddStart(activity);
  if (activity.kernel != kNoKernel) {
    // What was counted then is of no kernel that could be named.
    if (const auto shared = overlap.Add(activity)) {
      attribution.AddUntraced(shared->start_ns, shared->end_ns);
    }
    if (activity.kind == ActivityKind::kCommunication) exposed.AddLaunch(activity);
  }
  steps.Add(activity);
  process_timelines.Add(activity);
  returns.Add(activity);
  kernel_series.Add(activity);
  attribution.AddActivity(activity);
}

void DeviceState::OnSegment(const ActivitySegment& segment) {
  ledger.Add(segment);
  answered_waits.Add(segment);
  exposed.Add(segment);
  const bool kernel = (segment.mask & kKernelMask) != 0;
  if ((segment.mask & kUntracedMask) == 0) {
    busy_series.Add(segment.start_ns, segment.end_ns, kernel ? 1 : 0);
  }
}

void DeviceState::OnCopy(const Copy& copy, uint32_t source) {
  copies.Add(copy);
  if (!OnDevice(copy.kind)) return;
  queue.Add({.start_ns = copy.start_ns,
             .end_ns = copy.end_ns,
             .kernel = kNoKernel,
             .stream = copy.stream,
             .context = copy.context,
             .source = static_cast<uint16_t>(source),
             .kind = KindOfCopy(copy.kind, copy.pageable),
             .begins_launch = !copy.of_graph});
}

void DeviceState::OnSample(const CounterSet& counters, uint32_t metric_set, uint64_t start_ns,
                           uint64_t end_ns, const std::vector<double>& row) {
  samples.Add(counters, start_ns, end_ns, row);
  attribution.AddSample(metric_set, start_ns, end_ns, row);
}

}  // namespace utlz
