#include "collector/run/untraced_time.h"

#include <algorithm>

namespace utlz {

bool Uses(const ProcessState& process, uint32_t device) {
  const auto& devices = process.device_by_ordinal;
  if (devices.size() == 1) return devices.begin()->second == device;
  return std::any_of(process.ordinal_by_context.begin(), process.ordinal_by_context.end(),
                     [&](const auto& context) {
                       const auto found = devices.find(context.second);
                       return found != devices.end() && found->second == device;
                     });
}

void AddUntraced(const ProcessState& process, const UntracedGap& gap, ModelState* model) {
  for (const auto& [ordinal, device] : process.device_by_ordinal) {
    if (!model->devices[device].used || !Uses(process, device)) continue;
    model->devices[device].queue.Add({.start_ns = gap.start_ns,
                                      .end_ns = gap.end_ns,
                                      .kernel = kNoKernel,
                                      .stream = 0,
                                      .context = 0,
                                      .source = static_cast<uint16_t>(process.source),
                                      .kind = ActivityKind::kUntraced});
  }
}

void AddLostTail(const ProcessState& process, ModelState* model) {
  const auto handed_over_ns = process.HandedOverUntilNs();
  if (!process.coverage.open() || !handed_over_ns.has_value()) return;
  const uint64_t end_ns = process.LivedUntilNs(model->NewestNs());
  if (end_ns > *handed_over_ns) AddUntraced(process, {*handed_over_ns, end_ns}, model);
  // It was sampled later than anything that is known of it.
  const uint64_t sampled_to_ns = process.LivedUntilNs(UINT64_MAX);
  for (const auto& [ordinal, device] : process.device_by_ordinal) {
    if (!Uses(process, device)) continue;
    model->devices[device].attribution.AddUntraced(*handed_over_ns, sampled_to_ns);
  }
}

void AddUntracedTails(ModelState* model) {
  const uint64_t newest_ns = model->NewestNs();
  for (const auto& [source, process] : model->processes.processes()) {
    const auto tail = process->coverage.Tail(process->LivedUntilNs(newest_ns));
    if (tail.has_value()) AddUntraced(*process, *tail, model);
    if (process->live()) AddLostTail(*process, model);
  }
}

void TellUntraced(uint32_t index, ModelState* model) {
  DeviceState& device = model->devices[index];
  uint64_t first_ns = UINT64_MAX;
  for (const auto& [source, process] : model->processes.processes()) {
    if (!Uses(*process, index) || !process->coverage.known()) continue;
    first_ns = std::min(first_ns, process->coverage.FirstStartNs());
    const auto since_ns = process->coverage.UntracedSinceNs();
    if (!since_ns.has_value()) continue;
    device.attribution.AddUntraced(*since_ns, process->LivedUntilNs(device.released_until_ns));
  }
  if (first_ns != UINT64_MAX) device.attribution.AddUntraced(0, first_ns);
}

}  // namespace utlz
