#include "collector/summary/run_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/analysis/agent_cost.h"
#include "collector/gpu_uuid.h"
#include "proto/ring_abi.h"

namespace utlz {
namespace {

constexpr size_t kMaxStreams = 256;

std::string CommandOf(const Process& info) {
  if (info.arguments().empty()) return info.executable();
  std::string command;
  for (const std::string& argument : info.arguments()) {
    command += (command.empty() ? "" : " ") + argument;
  }
  return command;
}

// As the collector found it; what an agent writes there itself was removed.
void AddPlace(const Process& process, ProcessSummary* summary) {
  if (!process.job().empty()) summary->set_job(process.job());
  if (!process.pod().empty()) summary->set_pod(process.pod());
  if (!process.pod_namespace().empty()) summary->set_pod_namespace(process.pod_namespace());
  if (!process.container().empty()) summary->set_container(process.container());
}

void SetLosses(const ProcessState& process, ProcessSummary* summary) {
  summary->set_launches_untimed(process.launches_untimed);
  uint64_t dropped = process.status.launches_dropped_ring();
  if (process.end.has_value() && process.end->has_launches_dropped_ring()) {
    dropped = std::max<uint64_t>(dropped, process.end->launches_dropped_ring());
  }
  summary->set_launches_dropped(dropped + process.launches_unplaced);
  summary->set_records_dropped_cupti(process.status.records_dropped_cupti());
  if (process.end.has_value() && process.end->has_lost_at_most_ns()) {
    summary->set_lost_at_most_ns(process.end->lost_at_most_ns());
  }
}

// Of the time that each process's launches lasted, what other kernels had that ran at once; by
// source.
std::map<uint32_t, double> OthersTimesNs(const RunState& state) {
  std::map<uint32_t, double> others_ns;
  const std::vector<Kernel>& kernels = state.kernels.kernels();
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const double of_others = 1 - state.devices[kernels[i].device].shared_time.OwnShare(i);
    if (of_others <= 0) continue;
    for (const KernelShare& share : kernels[i].shares) {
      others_ns[share.source] += of_others * static_cast<double>(share.time_ns);
    }
  }
  return others_ns;
}

void SetProcess(const RunState& state, const ProcessState& process, double others_ns,
                ProcessSummary* summary) {
  summary->set_source_index(process.source);
  summary->set_pid(process.info.pid());
  if (process.info.parent_pid() != 0) summary->set_parent_pid(process.info.parent_pid());
  summary->set_command(CommandOf(process.info));
  if (process.info.has_rank()) summary->set_rank(process.info.rank());
  AddPlace(process.info, summary);
  if (process.info.cupti_version() != 0) summary->set_cupti_version(process.info.cupti_version());
  if (!process.info.cupti_path().empty()) summary->set_cupti_path(process.info.cupti_path());
  if (process.info.driver_version() != 0)
    summary->set_driver_version(process.info.driver_version());
  summary->set_launches(process.launches + process.launches_untimed);
  summary->set_kernel_time_ns(
      process.kernel_time_ns -
      std::min(process.kernel_time_ns, static_cast<uint64_t>(std::llround(others_ns))));
  SetLosses(process, summary);
  summary->set_wire_bytes(process.wire_bytes);
  if (process.launches > 0) {
    summary->set_wire_bytes_per_launch(static_cast<double>(process.wire_bytes) /
                                       static_cast<double>(process.launches));
  }
  summary->set_end(process.end.has_value() ? process.end->how() : "running");
  summary->set_agent(DescribeAgent(process));
  const uint64_t now_ns = state.NewestNs();
  if (const auto cost = TracingCostShare(process, now_ns)) summary->set_agent_cost_share(*cost);
  if (process.first_ns != 0) {
    summary->set_first_time_ns(process.first_ns);
    summary->set_last_time_ns(process.newest_ns);
  }
  for (const uint32_t device : process.DevicesUsed()) {
    summary->add_devices(FormatGpuUuid(state.devices[device].uuid));
  }
  if (process.coverage.known()) {
    summary->set_traced_ns(process.coverage.TracedNs(process.LivedUntilNs(now_ns)));
  }
}

uint64_t ExposedNs(const DeviceState& device, CopyKind kind, bool pageable) {
  return device.sweep.TimeNs(MaskOf(KindOfCopy(kind, pageable)), kKernelMask);
}

}  // namespace

std::string DescribeAgent(const ProcessState& process) {
  switch (static_cast<AgentReason>(process.status.reason())) {
    case AgentReason::kNone:
      return process.has_status || process.launches > 0 ? "traced" : "no record came";
    case AgentReason::kNoCupti:
      return "not traced: no libcupti was found";
    case AgentReason::kCuptiTooOld:
      return "not traced: its CUPTI is older than 12.6";
    case AgentReason::kCuptiTaken:
      return "not traced: another profiler holds CUPTI";
    case AgentReason::kCuptiError:
      return process.launches > 0 ? "partly traced: CUPTI returned an error"
                                  : "not traced: CUPTI returned an error";
    case AgentReason::kNoMemory:
      return "not traced: no memory";
    case AgentReason::kForked:
      return "not traced: a fork that did not execute a program";
    case AgentReason::kBuffersTaken:
      return "partly traced: another client took CUPTI's buffers for a while";
    case AgentReason::kNotPausable:
      return "traced without the pauses that the overhead budget asks for: it works in contexts "
             "of its own (cuCtxCreate), which CUPTI cannot safely pause";
    case AgentReason::kUserChanged:
    case AgentReason::kLibraryNotTaken:
    case AgentReason::kOtherRelease:
      break;  // agents give these to tools, never to a collector
  }
  return "not traced: reason " + std::to_string(process.status.reason());
}

void SummarizeRun(const RunState& state, Summary* summary) {
  RunSummary* run = summary->mutable_run();
  run->set_finished(state.run_end.has_value());
  if (state.run_start.has_value()) {
    const RunStart& start = *state.run_start;
    *run->mutable_command() = start.command();
    if (!start.host().empty()) run->set_host(start.host());
    run->set_start_time_ns(start.time_ns());
    if (state.NewestNs() > start.time_ns()) run->set_wall_ns(state.NewestNs() - start.time_ns());
    if (!start.utlz_version().empty()) run->set_utlz_version(start.utlz_version());
    if (!start.driver_version().empty()) run->set_driver_version(start.driver_version());
    run->set_recording(start.recording());
    if (!start.recording_note().empty()) run->set_recording_note(start.recording_note());
    run->set_attached(start.attached());
  }
  if (state.run_end.has_value()) {
    if (state.run_end->has_exit_status()) run->set_exit_status(state.run_end->exit_status());
    if (state.run_end->has_signal()) run->set_signal(state.run_end->signal());
    *run->mutable_notices() = state.run_end->notices();
  }
  if (state.bytes_unreadable > 0) {
    run->add_notices(
        "The profile is damaged or was cut short: " + std::to_string(state.bytes_unreadable) +
        " bytes of it cannot be read, and this report is of the rest.");
  }
}

void SummarizeProcesses(const RunState& state, Summary* summary) {
  std::vector<StreamSummary> streams;
  std::map<uint32_t, double> others_ns = OthersTimesNs(state);
  for (const auto& [source, process] : state.processes.processes()) {
    SetProcess(state, *process, others_ns[source], summary->add_processes());
    for (const auto& [key, count] : process->streams) {
      StreamSummary stream;
      stream.set_pid(process->info.pid());
      stream.set_context(key.first);
      stream.set_stream(key.second);
      stream.set_launches(count.launches);
      stream.set_kernel_time_ns(count.kernel_time_ns);
      streams.push_back(std::move(stream));
    }
  }
  std::stable_sort(streams.begin(), streams.end(), [](const auto& a, const auto& b) {
    return a.kernel_time_ns() > b.kernel_time_ns();
  });
  if (streams.size() > kMaxStreams) streams.resize(kMaxStreams);
  for (StreamSummary& stream : streams) *summary->add_streams() = std::move(stream);
}

void SummarizeCopies(const RunState& state, Summary* summary) {
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    for (const auto& [key, count] : device.copies.counts()) {
      CopySummary* copy = summary->add_copies();
      copy->set_kind(std::string(NameOf(key.first)));
      copy->set_pageable(key.second);
      copy->set_copies(count.copies);
      copy->set_time_ns(count.time_ns);
      copy->set_bytes(count.bytes);
      if (count.time_ns > 0) {
        copy->set_bytes_per_second(static_cast<double>(count.bytes) /
                                   static_cast<double>(count.time_ns) * 1e9);
      }
      if (OnDevice(key.first)) copy->set_exposed_ns(ExposedNs(device, key.first, key.second));
      const std::string uuid = FormatGpuUuid(device.uuid);
      if (!uuid.empty()) copy->set_device_uuid(uuid);
    }
  }
}

}  // namespace utlz
