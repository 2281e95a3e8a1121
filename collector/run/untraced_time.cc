#include "collector/run/untraced_time.h"

#include <algorithm>

namespace utlz {
namespace {

void AddToTimeline(const ProcessState& process, const UntracedGap& gap, DeviceState* device) {
  device->queue.Add({.start_ns = gap.start_ns,
                     .end_ns = gap.end_ns,
                     .kernel = kNoKernel,
                     .stream = 0,
                     .context = 0,
                     .source = static_cast<uint16_t>(process.source),
                     .kind = ActivityKind::kUntraced});
}

}  // namespace

bool Uses(const ProcessState& process, uint32_t device) {
  return process.DevicesHeld().contains(device);
}

void AddUntraced(const ProcessState& process, const UntracedGap& gap, RunState* state) {
  for (const auto& [ordinal, device] : process.device_by_ordinal) {
    if (!state->devices[device].used || !Uses(process, device)) continue;
    AddToTimeline(process, gap, &state->devices[device]);
  }
}

void AddLostTail(const ProcessState& process, RunState* state) {
  if (!process.coverage.open()) return;
  const uint64_t end_ns = process.LivedUntilNs(state->NewestNs());
  // It was sampled later than anything that is known of it.
  const uint64_t sampled_to_ns = process.LivedUntilNs(UINT64_MAX);
  for (const auto& [ordinal, index] : process.device_by_ordinal) {
    const auto handed_over_ns = process.HandedOverUntilNs(index);
    if (!handed_over_ns.has_value() || !Uses(process, index)) continue;
    DeviceState& device = state->devices[index];
    if (device.used && end_ns > *handed_over_ns) {
      AddToTimeline(process, {*handed_over_ns, end_ns}, &device);
    }
    device.attribution.AddUntraced(*handed_over_ns, sampled_to_ns);
  }
}

void AddUntracedTails(RunState* state) {
  const uint64_t newest_ns = state->NewestNs();
  for (const auto& [source, process] : state->processes.processes()) {
    const auto tail = process->coverage.Tail(process->LivedUntilNs(newest_ns));
    if (tail.has_value()) AddUntraced(*process, *tail, state);
    if (process->live()) AddLostTail(*process, state);
  }
}

void UpdateUntracedTime(uint32_t index, RunState* state) {
  DeviceState& device = state->devices[index];
  uint64_t first_ns = UINT64_MAX;
  for (const auto& [source, process] : state->processes.processes()) {
    if (!Uses(*process, index) || !process->coverage.known()) continue;
    first_ns = std::min(first_ns, process->coverage.FirstStartNs());
    const auto since_ns = process->coverage.UntracedSinceNs();
    if (!since_ns.has_value()) continue;
    device.attribution.AddUntraced(*since_ns, process->LivedUntilNs(device.released_until_ns));
  }
  if (first_ns != UINT64_MAX) device.attribution.AddUntraced(0, first_ns);
}

}  // namespace utlz
