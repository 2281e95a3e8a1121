#include "collector/diagnosis/sampling_notices.h"

#include <algorithm>
#include <string>

#include "collector/analysis/analysis.h"
#include "collector/capture_trust.h"
#include "collector/gpu_uuid.h"
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

// What is the same of several devices.
void AddOnce(const std::string& notice, RunSummary* run) {
  if (std::find(run->notices().begin(), run->notices().end(), notice) == run->notices().end()) {
    run->add_notices(notice);
  }
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
      " of this run ran beside another's on " + NameOf(device) + ", for " +
      PercentText(device.overlap_share()) + " of the time in which kernels ran";
  if (!IsWorkOfSeveral(device)) {
    run->add_notices(begin + ": what was counted then is left out of bytes and FLOPs of kernels.");
    return;
  }
  run->add_notices(begin +
                   ": that time is divided evenly among them, and their bytes and FLOPs are left "
                   "out, since nobody can know whose they are. Give each process a GPU of its "
                   "own, or profile one at a time.");
}

void AddMps(const DeviceSummary& device, RunSummary* run) {
  if (!device.mps()) return;
  run->add_notices("MPS is in use on " + NameOf(device) +
                   ", or its control pipe is there: kernels of other processes may run beside "
                   "those of this run, and then bytes and FLOPs of kernels include theirs.");
}

void AddUnrecordedWork(const DeviceSummary& device, RunSummary* run) {
  if (device.unrecorded_work_share() < kMuchUnrecorded) return;
  run->add_notices(
      "Counters saw multiprocessors of " + NameOf(device) +
      " active where no kernel was recorded: for " + PercentText(device.unrecorded_work_share()) +
      " of all that they did. CUPTI left launches out: it does so with some threads "
      "after tracing paused. So the GPU idled for less than is shown, and kernels that "
      "were recorded have smaller shares.");
}

// Counters that wrapped.
void AddImplausible(const DeviceState& device, RunSummary* run) {
  const uint64_t samples = device.samples.implausible();
  if (samples == 0) return;
  run->add_notices(Counted(samples, "sample", "samples") + " of " + device.info.name() + " " +
                   FormatGpuUuid(device.uuid) + " held more than the GPU can count, and " +
                   (samples == 1 ? "was" : "were") + " left out.");
}

// Of a device's kernels, communication left out.
struct KernelTimes {
  double all_ns = 0;
  double unknown_ns = 0;  // of those whose bytes are not known
};

KernelTimes TimesOn(const DeviceSummary& device, const Summary& summary) {
  KernelTimes times;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.device_uuid() != device.uuid() || kernel.communication()) continue;
    times.all_ns += kernel.time_ns();
    if (kernel.has_withheld_reason() || !kernel.has_dram_bytes())
      times.unknown_ns += kernel.time_ns();
  }
  return times;
}

// A run that ended before its kernels were known. One with many samples has other reasons, which
// its kernels name.
void AddTooShort(const RunState& state, const DeviceState& device, Summary* summary) {
  constexpr double kMostUnknown = 0.1;
  constexpr uint64_t kManySamples = 100'000;
  if (!state.run_end.has_value() || device.status->samples() >= kManySamples) return;
  // Where most is not known, the first screen says so, and what to type.
  if (summary->capture().kernel_time_without_counters_share() >= kMostlyUncounted) return;
  for (const DeviceSummary& one : summary->devices()) {
    if (one.uuid() != FormatGpuUuid(device.uuid) || IsWorkOfSeveral(one)) continue;
    const KernelTimes times = TimesOn(one, *summary);
    if (one.source() < SOURCE_SAMPLED || times.all_ns <= 0 ||
        times.unknown_ns <= kMostUnknown * times.all_ns) {
      continue;
    }
    // A longer run would be recorded for no longer; capture_text.cc says what helps.
    if (summary->capture().has_records_ended_after_ns()) continue;
    const bool formula = summary->efficiency().has_model_flops_per_step();
    summary->mutable_run()->add_notices(
        "Bytes and FLOPs of " + PercentText(times.unknown_ns / times.all_ns) +
        " of the whole run's kernel time on " + NameOf(one) +
        " are not known: the run ended too soon. Some 10 s more of the same " +
        (summary->steps().steps() > 0 ? "steps" : "work") + " would show them" +
        (formula ? "; MFU rests on the model's FLOPs that were given, and on no counter."
                 : ", and MFU needs no counters where --model-config or --model-flops-per-step "
                   "tells the model's FLOPs."));
  }
}

}  // namespace

void AddSamplingNotices(const RunState& state, Summary* summary) {
  RunSummary* const run = summary->mutable_run();
  for (const DeviceSummary& device : summary->devices()) {
    AddOtherProcesses(device, run);
    AddOverlap(device, run);
    AddMps(device, run);
    AddUnrecordedWork(device, run);
  }
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    if (!device.used) continue;
    AddImplausible(device, run);
    if (!device.status.has_value()) continue;
    const SamplerStatus& status = *device.status;
    AddTooShort(state, device, summary);
    if (status.lent_ns() > 0) {
      AddOnce("The counters were lent to another profiler (" + status.lent_to() + ") for " +
                  Seconds(status.lent_ns()) + ": what ran meanwhile was not counted.",
              run);
    }
    if (status.collectors() > 1) {
      AddOnce("The counters were shared with " +
                  Counted(status.collectors() - 1, "other collector", "other collectors") +
                  ", and so is the sampler's CPU time.",
              run);
    }
  }
}

}  // namespace utlz
