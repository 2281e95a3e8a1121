#include "bench/diagnosis/agent_writer.h"

#include <algorithm>
#include <utility>

#include "bench/diagnosis/kernel_variant.h"
#include "tests/support/launch_encoder.h"

namespace utlz {
namespace {

constexpr uint32_t kTraceFlags = 3;  // kernels and copies

template <typename Operation>
void AddOperations(const std::vector<Operation>& from, uint32_t context,
                   std::vector<Operation>* to) {
  for (Operation operation : from) {
    operation.context = context;
    to->push_back(operation);
  }
  std::stable_sort(to->begin(), to->end(), [](const Operation& left, const Operation& right) {
    return left.start_ns < right.start_ns;
  });
}

// What the process records that the rank is. Of GPUs of one process, the first one's writes for
// all.
PlannedRank RecordedBy(const PlannedRun& run, uint32_t index) {
  if (!run.one_process) return run.ranks[index];
  PlannedRank recorded;
  for (uint32_t i = 0; index == 0 && i < run.ranks.size(); ++i) {
    AddOperations(run.ranks[i].launches, i + 1, &recorded.launches);
    AddOperations(run.ranks[i].copies, i + 1, &recorded.copies);
  }
  return recorded;
}

}  // namespace

AgentWriter::AgentWriter(const PlannedRun& run, uint32_t index, const std::string& uuid,
                         std::vector<RecordingWindow> traced, ProfileWriter* writer)
    : run_(run),
      recorded_(RecordedBy(run, index)),
      index_(index),
      source_(run.one_process ? 1 : index + 1),
      records_(index == 0 || !run.one_process),
      uuid_(uuid),
      traced_(std::move(traced)),
      writer_(writer) {}

void AgentWriter::Announce() {
  if (records_) AnnounceProcess();
  AnnounceContext();
  if (records_) AnnounceVariants();
}

void AgentWriter::AnnounceProcess() {
  Process process;
  process.set_pid(1000 + source_);
  process.set_host_pid(1000 + source_);
  process.set_start_time_ns(kPlannedRunStartNs);
  process.add_arguments("python3");
  process.set_host("generated");
  process.set_cupti_version(130001);
  process.set_driver_version(13000);
  if (run_.ranks.size() > 1 && !run_.one_gpu && !run_.one_process) {
    process.set_rank(source_ - 1);
    process.set_local_rank(source_ - 1);
    process.set_world_size(static_cast<uint32_t>(run_.ranks.size()));
  }
  Write(FRAME_PROCESS, process);
}

void AgentWriter::AnnounceContext() {
  const uint32_t ordinal = run_.one_process ? index_ : 0;
  Device device = run_.device;
  device.set_uuid(uuid_);
  device.set_ordinal(ordinal);
  Write(FRAME_DEVICE, device);
  Context context;
  context.set_id(ordinal + 1);
  context.set_device_ordinal(ordinal);
  Write(FRAME_CONTEXT, context);
}

void AgentWriter::AnnounceVariants() {
  Strings strings;
  strings.set_first(1);
  Variants variants;
  for (const RecordedKernel& kernel : run_.kernels) {
    strings.add_values(kernel.name);
    const auto name = static_cast<uint32_t>(strings.values_size());
    const GraphPlace place =
        run_.graphs ? GraphPlace{.graph = 1, .node = 1000 + name} : GraphPlace{};
    AddVariant(kernel, name, place, &variants);
  }
  Write(FRAME_STRINGS, strings);
  Write(FRAME_VARIANTS, variants);
}

bool AgentWriter::Traced(uint64_t time_ns) const {
  return std::any_of(traced_.begin(), traced_.end(), [time_ns](const RecordingWindow& window) {
    return time_ns >= window.start_ns && time_ns < window.end_ns;
  });
}

uint64_t AgentWriter::LastRecordNs(uint64_t time_ns) const {
  uint64_t last_ns = 0;
  const auto look_at = [&](const auto& operations) {
    for (const auto& operation : operations) {
      if (operation.start_ns >= time_ns) break;
      if (Traced(operation.start_ns)) last_ns = std::max(last_ns, operation.start_ns);
    }
  };
  look_at(recorded_.launches);
  look_at(recorded_.copies);
  return last_ns;
}

// An operation is a kernel, a copy or the launch of a graph. An agent learns from a record how many
// numbers passed before it: of a gap it knows nothing until the next window has one.
void AgentWriter::WriteStatus(uint64_t time_ns) {
  if (!records_) return;
  const uint64_t last_ns = LastRecordNs(time_ns);
  uint64_t numbered = 0;
  uint64_t recorded = 0;
  uint64_t launches = 0;
  uint32_t graph = 0;
  for (const PlannedLaunch& launch : recorded_.launches) {
    if (launch.start_ns > last_ns) break;
    const bool traced = Traced(launch.start_ns);
    launches += traced;
    if (launch.graph != 0 && launch.graph == graph) continue;
    graph = launch.graph;
    ++numbered;
    recorded += traced;
  }
  for (const PlannedCopy& copy : recorded_.copies) {
    if (copy.start_ns > last_ns) break;
    ++numbered;
    recorded += Traced(copy.start_ns);
  }
  AgentStatus status;
  status.set_time_ns(kPlannedRunStartNs + time_ns);
  status.set_launches_recorded(launches);
  status.set_operations_recorded(recorded);
  status.set_operations_numbered(numbered);
  status.set_operations_in_gaps(numbered - recorded);
  status.set_flushed_until_ns(kPlannedRunStartNs + time_ns);
  Write(FRAME_AGENT_STATUS, status);
}

void AgentWriter::WriteTraceWindow(const RecordingWindow& window, bool closed) {
  TraceWindow message;
  message.set_start_ns(kPlannedRunStartNs + window.start_ns);
  message.set_end_ns(closed ? kPlannedRunStartNs + window.end_ns : 0);
  message.set_flags(kTraceFlags);
  const bool first = window.start_ns == traced_.front().start_ns;
  if (!first && !closed) message.set_gap_reason("the overhead budget");
  Write(FRAME_TRACE_WINDOW, message);
}

// Windows that open or close before `until_ns`, with the records between.
void AgentWriter::OpenAndClose(uint64_t until_ns) {
  for (const RecordingWindow& window : traced_) {
    if (window.start_ns >= written_ns_ && window.start_ns < until_ns) {
      WriteLaunches(window.start_ns);
      WriteStatus(window.start_ns);
      WriteTraceWindow(window, false);
    }
    if (window.end_ns >= written_ns_ && window.end_ns < until_ns) {
      WriteLaunches(window.end_ns);
      WriteCopies(window.end_ns);
      WriteStatus(window.end_ns);
      WriteTraceWindow(window, true);
    }
  }
}

void AgentWriter::WriteLaunches(uint64_t until_ns) {
  DecodedLaunches decoded;
  for (; next_launch_ < recorded_.launches.size(); ++next_launch_) {
    const PlannedLaunch& launch = recorded_.launches[next_launch_];
    if (launch.start_ns >= until_ns) break;
    if (!Traced(launch.start_ns)) continue;
    const uint64_t start_ns = kPlannedRunStartNs + launch.start_ns;
    decoded.launches.push_back({start_ns, start_ns + launch.duration_ns, launch.kernel, 0});
    if (decoded.segments.empty() || decoded.segments.back().stream != launch.stream ||
        decoded.segments.back().context != launch.context ||
        decoded.segments.back().graph_correlation != launch.graph) {
      decoded.segments.push_back({0, launch.stream, launch.context, launch.graph});
    }
    ++decoded.segments.back().launches;
  }
  if (!decoded.launches.empty()) Write(FRAME_LAUNCHES, EncodeLaunches(decoded));
}

void AgentWriter::WriteCopies(uint64_t until_ns) {
  CopyBatch batch;
  batch.set_base_ns(kPlannedRunStartNs);
  uint64_t last_ns = 0;
  for (; next_copy_ < recorded_.copies.size(); ++next_copy_) {
    const PlannedCopy& copy = recorded_.copies[next_copy_];
    if (copy.start_ns >= until_ns) break;
    if (!Traced(copy.start_ns)) continue;
    batch.add_kind(copy.kind);
    batch.add_start_delta_ns(static_cast<int64_t>(copy.start_ns - last_ns));
    batch.add_duration_ns(copy.duration_ns);
    batch.add_bytes(copy.bytes);
    batch.add_stream(copy.stream);
    batch.add_context(copy.context);
    batch.add_flags(copy.pageable ? COPY_HOST_PAGEABLE : COPY_ASYNC);
    batch.add_graph_node(0);
    last_ns = copy.start_ns;
  }
  if (batch.kind_size() > 0) Write(FRAME_COPIES, batch);
}

void AgentWriter::WriteUntil(uint64_t time_ns) {
  if (!records_) return;
  OpenAndClose(time_ns);
  WriteLaunches(time_ns);
  WriteCopies(time_ns);
  written_ns_ = time_ns;
}

// A window that is open at the end ends there; a gap before the end is ended by an empty window.
void AgentWriter::End() {
  if (!records_) return;
  const uint64_t end_ns = written_ns_;
  RecordingWindow last = traced_.back();
  if (last.end_ns >= end_ns) {
    last.end_ns = end_ns;
  } else {
    last = {end_ns, end_ns};
  }
  WriteTraceWindow(last, true);
  ProcessEnd end;
  end.set_time_ns(kPlannedRunStartNs + end_ns);
  end.set_how("exit");
  Write(FRAME_PROCESS_END, end);
}

}  // namespace utlz
