#include "collector/diagnosis/sampling_notices.h"

#include <string>

#include "collector/analysis/analysis.h"
#include "collector/text/number_text.h"

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

std::string NameOf(const DeviceSummary& device) { return device.name() + " " + device.uuid(); }

void AddOverlap(const DeviceSummary& device, RunSummary* run) {
  if (!device.has_overlap_share()) return;
  const std::string begin =
      "Kernels of " + Counted(device.overlapping_processes(), "process", "processes") +
      " of this run ran at once on " + NameOf(device) + ", for " +
      PercentText(device.overlap_share()) + " of the time in which kernels ran";
  if (device.overlap_share() <= kMostOverlap) {
    run->add_notices(begin + ": what was counted then is left out of bytes and FLOPs of kernels.");
    return;
  }
  run->add_notices(begin +
                   ": their times hold each other's time slices, and their bytes and FLOPs are "
                   "left out, since nobody can tell whose they are. Give each process a GPU of its "
                   "own, or profile one at a time.");
}

void AddMps(const DeviceSummary& device, RunSummary* run) {
  if (!device.mps()) return;
  run->add_notices("MPS is in use on " + NameOf(device) +
                   ", or its control pipe is there: kernels of other processes may run beside "
                   "those of this run, and then bytes and FLOPs of kernels include theirs.");
}

// Counters that wrapped.
void AddImplausible(const DeviceState& device, RunSummary* run) {
  const uint64_t samples = device.samples.implausible();
  if (samples == 0) return;
  run->add_notices(Counted(samples, "sample", "samples") + " of " + device.info.name() + " " +
                   FormatUuid(device.uuid) + " held more than the GPU can count, and " +
                   (samples == 1 ? "was" : "were") + " left out.");
}

}  // namespace

void AddSamplingNotices(const ModelState& model, Summary* summary) {
  RunSummary* const run = summary->mutable_run();
  for (const DeviceSummary& device : summary->devices()) {
    AddOtherProcesses(device, run);
    AddOverlap(device, run);
    AddMps(device, run);
  }
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& device = model.devices[i];
    if (!device.used) continue;
    AddImplausible(device, run);
    if (!device.status.has_value()) continue;
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
