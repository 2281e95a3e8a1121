#include "bench/diagnosis/run_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "bench/diagnosis/kernel_variant.h"
#include "bench/diagnosis/recording_windows.h"
#include "bench/diagnosis/sampled_metrics.h"
#include "collector/profile/profile_writer.h"
#include "collector/sampler/counters/sample_batch_encoder.h"
#include "tests/support/launch_encoder.h"

namespace utlz {
namespace {

constexpr uint64_t kRunStartNs = 1'700'000'000'000'000'000;
// How much of the run a frame holds.
constexpr uint64_t kSliceNs = 250'000'000;
constexpr uint64_t kTotalsNs = 200'000'000;
constexpr uint64_t kExitNs = 200'000'000;
constexpr uint32_t kTraceFlags = 3;  // kernels and copies
constexpr uint32_t kSamplesPerBatch = 4096;

// Evenly spread over a stretch of time.
struct SpreadWork {
  uint64_t start_ns;
  uint64_t end_ns;
  MetricValues values;
};

double OverlapNs(uint64_t start_ns, uint64_t end_ns, const SpreadWork& work) {
  const uint64_t first = std::max(start_ns, work.start_ns);
  const uint64_t last = std::min(end_ns, work.end_ns);
  return last > first ? static_cast<double>(last - first) : 0;
}

LaunchWork WorkOf(const PlannedCopy& copy) {
  LaunchWork work;
  const auto bytes = static_cast<double>(copy.bytes);
  if (copy.kind != COPY_HOST_TO_DEVICE) work.dram_read_bytes = bytes;
  if (copy.kind != COPY_DEVICE_TO_HOST) work.dram_write_bytes = bytes;
  return work;
}

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

class RankWriter {
 public:
  RankWriter(const PlannedRun& run, uint32_t index, const RunWriterOptions& options,
             ProfileWriter* writer)
      : run_(run),
        rank_(run.ranks[index]),
        recorded_(RecordedBy(run, index)),
        index_(index),
        source_(run.one_process ? 1 : index + 1),
        writer_(writer),
        uuid_(run.device.uuid()),
        clock_hz_(run.peaks.sm_clock_maximum_hz() * run.ranks[index].clock_share),
        windows_(options.everything
                     ? WholeRun(run.end_ns)
                     : WindowsOf(run.ranks[run.one_process ? 0 : index], run.end_ns)) {
    uuid_.resize(16, 'G');
    uuid_[15] = static_cast<char>(run.one_gpu ? 0 : index);
    counts_ = index == 0 || !run.one_gpu;
    speaks_ = index == 0 || !run.one_process;
    SpreadAllWork();
  }

  void Announce();
  void WriteUntil(uint64_t time_ns);
  void End();

 private:
  void AnnounceDevice();
  template <typename Message>
  void Write(FrameType type, const Message& message, bool of_process = true) {
    // Write errors are kept and come back from Finish().
    (void)writer_->Append(of_process ? source_ : 0, static_cast<uint16_t>(type),
                          message.SerializeAsString());
  }
  void AnnounceProcess();
  void AnnounceContext();
  void AnnounceVariants();
  void AnnounceCounters();
  void SpreadWorkOf(const PlannedRank& rank);
  void SpreadAllWork();
  void OpenAndClose(uint64_t until_ns);
  void WriteTraceWindow(const RecordingWindow& window, bool closed);
  void WriteStatus(uint64_t time_ns);
  // When the last operation before `time_ns` began of which there is a record; 0: there is none.
  uint64_t LastRecordNs(uint64_t time_ns) const;
  void WriteLaunches(uint64_t until_ns);
  void WriteCopies(uint64_t until_ns);
  void WriteSamples(uint64_t until_ns);
  void WriteWindowOfSamples(const RecordingWindow& window);
  MetricValues WorkBetween(uint64_t start_ns, uint64_t end_ns, size_t* from) const;
  void WriteTotals(uint64_t until_ns);
  void AddReading(uint64_t time_ns, DeviceTotalsBatch* totals);
  bool Traced(uint64_t time_ns) const;

  const PlannedRun& run_;
  const PlannedRank& rank_;
  const PlannedRank recorded_;
  const uint32_t index_;
  const uint32_t source_;
  ProfileWriter* writer_;
  std::string uuid_;
  const double clock_hz_;
  const RecordingWindows windows_;
  bool counts_ = true;            // writes what is said of the GPU
  bool speaks_ = true;            // writes what is said of the process
  std::vector<SpreadWork> work_;  // by start
  uint64_t longest_ns_ = 0;       // of work_
  uint64_t written_ns_ = 0;
  size_t next_launch_ = 0, next_copy_ = 0, next_sampled_ = 0;
  uint64_t next_totals_ns_ = 0;
  double energy_joules_ = 0;
};

void RankWriter::SpreadWorkOf(const PlannedRank& rank) {
  for (const PlannedLaunch& launch : rank.launches) {
    const LaunchWork work = run_.kernels[launch.kernel].work.Scaled(launch.work_share);
    work_.push_back({launch.start_ns, launch.start_ns + launch.duration_ns, ValuesOf(work)});
  }
  for (const PlannedCopy& copy : rank.copies) {
    work_.push_back({copy.start_ns, copy.start_ns + copy.duration_ns, ValuesOf(WorkOf(copy))});
  }
}

void RankWriter::SpreadAllWork() {
  if (run_.one_gpu) {
    for (const PlannedRank& rank : run_.ranks) SpreadWorkOf(rank);
  } else {
    SpreadWorkOf(rank_);
  }
  std::stable_sort(work_.begin(), work_.end(), [](const SpreadWork& left, const SpreadWork& right) {
    return left.start_ns < right.start_ns;
  });
  for (const SpreadWork& work : work_) {
    longest_ns_ = std::max(longest_ns_, work.end_ns - work.start_ns);
  }
}

void RankWriter::AnnounceDevice() {
  DevicePeaks peaks = run_.peaks;
  peaks.set_device_uuid(uuid_);
  peaks.set_sm_clock_hz(0);
  Write(FRAME_DEVICE_PEAKS, peaks, false);
  SamplerStatus status;
  status.set_device_uuid(uuid_);
  status.set_time_ns(kRunStartNs);
  status.set_counter_source(SOURCE_SAMPLED);
  Write(FRAME_SAMPLER_STATUS, status, false);
}

void RankWriter::Announce() {
  if (counts_) AnnounceDevice();
  if (speaks_) AnnounceProcess();
  AnnounceContext();
  if (speaks_) AnnounceVariants();
  if (counts_) AnnounceCounters();
}

void RankWriter::AnnounceProcess() {
  Process process;
  process.set_pid(1000 + source_);
  process.set_host_pid(1000 + source_);
  process.set_start_time_ns(kRunStartNs);
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

void RankWriter::AnnounceContext() {
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

void RankWriter::AnnounceVariants() {
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

void RankWriter::AnnounceCounters() {
  MetricSet set;
  set.set_id(index_ + 1);
  set.set_device_uuid(uuid_);
  set.set_chip(run_.peaks.chip());
  set.set_interval_ns(kSampleIntervalNs);
  AddSampledMetrics(run_.device.multiprocessors(), &set);
  Write(FRAME_METRIC_SET, set, false);
}

bool RankWriter::Traced(uint64_t time_ns) const {
  return std::any_of(windows_.traced.begin(), windows_.traced.end(),
                     [time_ns](const RecordingWindow& window) {
                       return time_ns >= window.start_ns && time_ns < window.end_ns;
                     });
}

uint64_t RankWriter::LastRecordNs(uint64_t time_ns) const {
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
void RankWriter::WriteStatus(uint64_t time_ns) {
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
  status.set_time_ns(kRunStartNs + time_ns);
  status.set_launches_recorded(launches);
  status.set_operations_recorded(recorded);
  status.set_operations_numbered(numbered);
  status.set_operations_in_gaps(numbered - recorded);
  status.set_flushed_until_ns(kRunStartNs + time_ns);
  Write(FRAME_AGENT_STATUS, status);
}

void RankWriter::WriteTraceWindow(const RecordingWindow& window, bool closed) {
  TraceWindow message;
  message.set_start_ns(kRunStartNs + window.start_ns);
  message.set_end_ns(closed ? kRunStartNs + window.end_ns : 0);
  message.set_flags(kTraceFlags);
  const bool first = window.start_ns == windows_.traced.front().start_ns;
  if (!first && !closed) message.set_gap_reason("the overhead budget");
  Write(FRAME_TRACE_WINDOW, message);
}

// Windows that open or close before `until_ns`, with the records between.
void RankWriter::OpenAndClose(uint64_t until_ns) {
  for (const RecordingWindow& window : windows_.traced) {
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

void RankWriter::WriteLaunches(uint64_t until_ns) {
  DecodedLaunches decoded;
  for (; next_launch_ < recorded_.launches.size(); ++next_launch_) {
    const PlannedLaunch& launch = recorded_.launches[next_launch_];
    if (launch.start_ns >= until_ns) break;
    if (!Traced(launch.start_ns)) continue;
    const uint64_t start_ns = kRunStartNs + launch.start_ns;
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

void RankWriter::WriteCopies(uint64_t until_ns) {
  CopyBatch batch;
  batch.set_base_ns(kRunStartNs);
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

// `from`: the first work that may reach into the time; moves on with it.
MetricValues RankWriter::WorkBetween(uint64_t start_ns, uint64_t end_ns, size_t* from) const {
  MetricValues sum{};
  while (*from < work_.size() && work_[*from].start_ns + longest_ns_ <= start_ns) ++*from;
  for (size_t i = *from; i < work_.size() && work_[i].start_ns < end_ns; ++i) {
    const double overlap_ns = OverlapNs(start_ns, end_ns, work_[i]);
    if (overlap_ns <= 0) continue;
    const double share = overlap_ns / static_cast<double>(work_[i].end_ns - work_[i].start_ns);
    for (size_t metric = 0; metric < sum.size(); ++metric) {
      sum[metric] += share * work_[i].values[metric];
    }
  }
  return sum;
}

// A sample holds whole steps of its counter; what is left goes into the next one, so that a
// window's total is what was planned.
void RankWriter::WriteWindowOfSamples(const RecordingWindow& window) {
  std::vector<double> resolutions;
  for (const SampledMetric& metric : kSampledMetrics) resolutions.push_back(metric.resolution);
  SampleBatchEncoder encoder(index_ + 1, uuid_, kSampleIntervalNs, resolutions);
  encoder.StartWindow();
  MetricValues left{};
  size_t from = 0;
  for (uint64_t now = window.start_ns; now < window.end_ns; now += kSampleIntervalNs) {
    MetricValues values = WorkBetween(now, now + kSampleIntervalNs, &from);
    values[2] = clock_hz_ * 1e-9 * kSampleIntervalNs;
    for (size_t metric = 0; metric < values.size(); ++metric) {
      const double whole = values[metric] + left[metric];
      values[metric] = std::floor(whole / kSampledMetrics[metric].resolution) *
                       kSampledMetrics[metric].resolution;
      left[metric] = whole - values[metric];
    }
    const uint64_t start_ns = kRunStartNs + now;
    encoder.Add(start_ns, start_ns + kSampleIntervalNs, values);
    if (encoder.samples() == kSamplesPerBatch) Write(FRAME_SAMPLES, encoder.Take(), false);
  }
  if (encoder.has_news()) Write(FRAME_SAMPLES, encoder.Take(), false);
}

void RankWriter::WriteSamples(uint64_t until_ns) {
  for (; next_sampled_ < windows_.sampled.size(); ++next_sampled_) {
    if (windows_.sampled[next_sampled_].start_ns >= until_ns) return;
    WriteWindowOfSamples(windows_.sampled[next_sampled_]);
  }
}

// What NVML says of the 0.2 s before.
void RankWriter::AddReading(uint64_t time_ns, DeviceTotalsBatch* totals) {
  const uint64_t before_ns = time_ns < kTotalsNs ? 0 : time_ns - kTotalsNs;
  size_t from = 0;
  const MetricValues sum = WorkBetween(before_ns, time_ns, &from);
  double busy_ns = 0;
  uint64_t busy_until_ns = before_ns;
  for (size_t i = from; i < work_.size() && work_[i].start_ns < time_ns; ++i) {
    busy_ns += OverlapNs(busy_until_ns, time_ns, work_[i]);
    busy_until_ns = std::max(busy_until_ns, std::min(time_ns, work_[i].end_ns));
  }
  const double interval_ns = static_cast<double>(std::max<uint64_t>(1, time_ns - before_ns));
  const double multiprocessors = run_.device.multiprocessors();
  const double cycles = clock_hz_ * 1e-9 * interval_ns * multiprocessors;
  const double bytes = interval_ns * 1e-9 * run_.peaks.dram_bytes_per_second();
  const bool works = busy_ns > 0;
  const double watts = 110 + 500 * busy_ns / interval_ns;
  energy_joules_ += watts * 1e-9 * interval_ns;
  const uint64_t first_ns = rank_.launches.front().start_ns;
  const double grown = time_ns <= first_ns
                           ? 0
                           : std::min(1.0, static_cast<double>(time_ns - first_ns) /
                                               static_cast<double>(run_.end_ns - first_ns));
  totals->add_time_ns(kRunStartNs + time_ns);
  totals->add_gpu_busy_percent(100 * busy_ns / interval_ns);
  totals->add_memory_used_bytes(rank_.memory_bytes + grown * rank_.memory_growth_bytes);
  totals->add_power_milliwatts(1e3 * watts);
  totals->add_energy_millijoules(1e3 * energy_joules_);
  totals->add_sm_clock_mhz(1e-6 * (works ? clock_hz_ : run_.peaks.sm_clock_maximum_hz()));
  totals->add_memory_clock_mhz(1e-3 * run_.device.memory_clock_khz());
  totals->add_temperature_celsius(works ? 55 : 40);
  totals->add_clock_limit_reasons(works ? rank_.clock_limit_reasons : 1);
  totals->add_gpm_sm_active_percent(100 * std::min(1.0, sum[4] / cycles));
  totals->add_gpm_tensor_active_percent(100 * std::min(1.0, sum[3] / (4 * cycles)));
  totals->add_gpm_dram_active_percent(100 * std::min(1.0, (sum[0] + sum[1]) / bytes));
}

void RankWriter::WriteTotals(uint64_t until_ns) {
  DeviceTotalsBatch totals;
  totals.set_device_uuid(uuid_);
  for (; next_totals_ns_ < until_ns; next_totals_ns_ += kTotalsNs) {
    AddReading(next_totals_ns_, &totals);
  }
  if (totals.time_ns_size() > 0) Write(FRAME_DEVICE_TOTALS, totals, false);
}

void RankWriter::WriteUntil(uint64_t time_ns) {
  if (speaks_) {
    OpenAndClose(time_ns);
    WriteLaunches(time_ns);
    WriteCopies(time_ns);
  }
  if (counts_) {
    WriteSamples(time_ns);
    WriteTotals(time_ns);
  }
  if (speaks_) WriteStatus(time_ns);
  written_ns_ = time_ns;
}

// A window that is open at the end ends there; a gap before the end is ended by an empty window.
void RankWriter::End() {
  if (!speaks_) return;
  const uint64_t end_ns = written_ns_;
  RecordingWindow last = windows_.traced.back();
  if (last.end_ns >= end_ns) {
    last.end_ns = end_ns;
  } else {
    last = {end_ns, end_ns};
  }
  WriteTraceWindow(last, true);
  ProcessEnd end;
  end.set_time_ns(kRunStartNs + end_ns);
  end.set_how("exit");
  Write(FRAME_PROCESS_END, end);
}

}  // namespace

absl::Status WritePlannedRun(const PlannedRun& run, const std::string& path,
                             const RunWriterOptions& options) {
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
  if (!writer.ok()) return writer.status();
  RunStart start;
  start.set_time_ns(kRunStartNs);
  start.add_command("generated load, no measurement");
  start.set_host("generated");
  start.set_overhead_budget_ppm(10'000);
  start.set_counters("auto");
  if (run.workload_spec.flops_per_step() > 0) *start.mutable_workload_spec() = run.workload_spec;
  (void)writer->Append(0, FRAME_RUN_START, start.SerializeAsString());
  std::vector<RankWriter> ranks;
  for (uint32_t i = 0; i < run.ranks.size(); ++i) ranks.emplace_back(run, i, options, &*writer);
  for (RankWriter& rank : ranks) rank.Announce();
  const uint64_t end_ns = run.end_ns + kExitNs;
  for (uint64_t now = 0; now < end_ns;) {
    now = std::min(end_ns, now + kSliceNs);
    for (RankWriter& rank : ranks) rank.WriteUntil(now);
  }
  for (RankWriter& rank : ranks) rank.End();
  RunEnd end;
  end.set_time_ns(kRunStartNs + end_ns);
  end.set_exit_status(0);
  (void)writer->Append(0, FRAME_RUN_END, end.SerializeAsString());
  // Fails for good once an earlier frame could not be written.
  return writer->Finish();
}

}  // namespace utlz
