#include "collector/model/sampling_notices.h"

#include <string>

namespace utlz {
namespace {

std::string Counted(uint64_t count, const std::string& noun, const std::string& plural) {
  return std::to_string(count) + " " + (count == 1 ? noun : plural);
}

std::string Seconds(uint64_t time_ns) {
  const uint64_t tenths = (time_ns + 50'000'000) / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

void AddOtherProcesses(const DeviceSummary& device, RunSummary* run) {
  if (device.other_processes() == 0 || device.source() < SOURCE_SAMPLED) return;
  run->add_notices(Counted(device.other_processes(), "process", "processes") +
                   " not traced here had a context on " + device.name() + " " + device.uuid() +
                   ": what ran there meanwhile is in the device's totals, and bytes and FLOPs of "
                   "kernels, marked ~, may include it.");
}

}  // namespace

void AddSamplingNotices(const ModelState& model, Summary* summary) {
  RunSummary* const run = summary->mutable_run();
  for (const DeviceSummary& device : summary->devices()) AddOtherProcesses(device, run);
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& device = model.devices[i];
    if (!device.used || !device.status.has_value()) continue;
    const SamplerStatus& status = *device.status;
    if (status.lent_ns() > 0) {
      run->add_notices("The counters were lent to another profiler (" + status.lent_to() +
                       ") for " + Seconds(status.lent_ns()) +
                       ": what ran meanwhile was not counted.");
    }
    if (status.collectors() > 1) {
      run->add_notices("The counters were shared with " +
                       Counted(status.collectors() - 1, "other collector", "other collectors") +
                       ", and so is the sampler's CPU time.");
    }
  }
}

}  // namespace utlz
