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

void Settle(const ProcessState& process, UntracedWork* work, DeviceState* device) {
  const std::optional<UntracedGap> untraced = work->Settle();
  if (untraced.has_value()) AddToTimeline(process, *untraced, device);
}

// After a window that no other has followed.
uint64_t EndOfWork(const ProcessState& process, uint32_t device, uint64_t window_end_ns) {
  const auto found = process.untraced_work.find(device);
  return found == process.untraced_work.end() ? window_end_ns
                                              : found->second.EndOfWork(window_end_ns);
}

void AddTail(const ProcessState& process, const UntracedGap& tail, RunState* state) {
  for (const auto& [ordinal, device] : process.device_by_ordinal) {
    if (!state->devices[device].used || !Uses(process, device)) continue;
    const uint64_t start_ns = EndOfWork(process, device, tail.start_ns);
    if (start_ns < tail.end_ns) {
      AddToTimeline(process, {start_ns, tail.end_ns}, &state->devices[device]);
    }
  }
}

}  // namespace

bool Uses(const ProcessState& process, uint32_t device) {
  return process.DevicesHeld().contains(device);
}

void BeginUntraced(const UntracedGap& gap, ProcessState* process, RunState* state) {
  for (const auto& [ordinal, device] : process->device_by_ordinal) {
    if (!state->devices[device].used || !Uses(*process, device)) continue;
    UntracedWork& work = process->untraced_work[device];
    Settle(*process, &work, &state->devices[device]);
    work.Begin(gap);
  }
}

void SettleUntraced(ProcessState* process, RunState* state) {
  for (auto& [device, work] : process->untraced_work) {
    if (work.has_work_after()) Settle(*process, &work, &state->devices[device]);
  }
}

void SettleUntracedBefore(uint64_t watermark_ns, uint32_t device, RunState* state) {
  for (const auto& [source, process] : state->processes.processes()) {
    const auto found = process->untraced_work.find(device);
    if (found == process->untraced_work.end()) continue;
    const std::optional<UntracedGap>& gap = found->second.gap();
    if (!gap.has_value() || gap->start_ns >= watermark_ns) continue;
    Settle(*process, &found->second, &state->devices[device]);
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
    if (tail.has_value()) AddTail(*process, *tail, state);
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
    const uint64_t untraced_ns = EndOfWork(*process, index, *since_ns);
    const uint64_t until_ns = process->LivedUntilNs(device.released_until_ns);
    if (untraced_ns < until_ns) device.attribution.AddUntraced(untraced_ns, until_ns);
  }
  if (first_ns != UINT64_MAX) device.attribution.AddUntraced(0, first_ns);
}

}  // namespace utlz
