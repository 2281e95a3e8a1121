#include "collector/metrics/run_metrics.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "collector/analysis/analyze.h"
#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/metrics/compute_share.h"
#include "collector/metrics/label_text.h"
#include "collector/run/workload_spec.h"
#include "collector/steps/found_steps.h"
#include "collector/steps/step_summary.h"

namespace utlz {
namespace {

constexpr double kSecondsPerNs = 1e-9;

void AddLabel(const char* name, std::string_view value, Labels* labels) {
  if (!value.empty()) labels->emplace_back(name, LabelText(value));
}

void AddKnown(Metric metric, const Labels& labels, const std::optional<double>& value,
              MetricsSnapshot* snapshot) {
  if (value.has_value() && std::isfinite(*value)) snapshot->Add(metric, labels, *value);
}

std::optional<double> Seconds(const std::optional<double>& time_ns) {
  return time_ns.has_value() ? std::make_optional(*time_ns * kSecondsPerNs) : std::nullopt;
}

Labels With(Labels labels, const char* name, std::string_view value) {
  AddLabel(name, value, &labels);
  return labels;
}

void AddFamilies(const WorkSum& sum, const Labels& labels, MetricsSnapshot* snapshot) {
  for (int i = 0; i < kKernelFamilies; ++i) {
    const FamilyWork& family = sum.families[static_cast<size_t>(i)];
    if (family.launches <= 0) continue;
    const Labels of_family = With(labels, "family", NameOf(static_cast<KernelFamily>(i)));
    snapshot->Add(Metric::kKernelSeconds, of_family, family.time_ns * kSecondsPerNs);
    snapshot->Add(Metric::kKernelLaunches, of_family, family.launches);
    AddKnown(Metric::kEstimatedSavingsSeconds, of_family, Seconds(family.savings_ns), snapshot);
  }
}

void AddCauses(const TimeSum& time, const Labels& labels, MetricsSnapshot* snapshot) {
  for (size_t i = 0; i < kTimeCauses; ++i) {
    if (time.time_ns[i] <= 0) continue;
    snapshot->Add(Metric::kGpuTimeSeconds, With(labels, "cause", NameOf(static_cast<TimeCause>(i))),
                  time.time_ns[i] * kSecondsPerNs);
  }
}

void AddRates(const DeviceRates& rates, const Labels& labels, MetricsSnapshot* snapshot) {
  AddKnown(Metric::kHfu, labels, rates.hfu, snapshot);
  AddKnown(Metric::kComputeSpeedOfLight, labels, rates.compute_speed_of_light, snapshot);
  AddKnown(Metric::kMemorySpeedOfLight, labels, rates.memory_speed_of_light, snapshot);
  AddKnown(Metric::kSmActive, labels, rates.sm_active, snapshot);
  AddKnown(Metric::kGpuBusy, labels, rates.busy, snapshot);
  AddKnown(Metric::kNvmlBusy, labels, rates.nvml_busy, snapshot);
}

void AddReadings(const DeviceState& device, const Labels& labels, MetricsSnapshot* snapshot) {
  AddKnown(Metric::kTemperature, labels, device.totals.temperature(), snapshot);
  AddKnown(Metric::kMemoryUsed, labels, device.totals.memory_used(), snapshot);
  const uint64_t memory_bytes =
      device.peaks.has_value() ? device.peaks->memory_bytes() : device.info.memory_bytes();
  if (memory_bytes > 0) {
    snapshot->Add(Metric::kMemorySize, labels, static_cast<double>(memory_bytes));
  }
  for (const ClockLimitTime& limit : device.totals.ClockLimitTimes()) {
    snapshot->Add(Metric::kClockLimited, With(labels, "reason", limit.reason), limit.seconds);
  }
}

bool LivesAlone(const RunState& run_state, uint32_t source) {
  const auto found = run_state.processes.processes().find(source);
  return found != run_state.processes.processes().end() && found->second->live() &&
         WorksAlone(run_state, source);
}

std::optional<double> TracedShare(const RunState& run_state, uint32_t source) {
  const auto found = run_state.processes.processes().find(source);
  if (found == run_state.processes.processes().end()) return std::nullopt;
  const ProcessState& process = *found->second;
  if (!process.coverage.known()) return std::nullopt;
  const auto traced_ns =
      static_cast<double>(process.coverage.TracedNs(process.LivedUntilNs(run_state.NewestNs())));
  const double all_ns = traced_ns + static_cast<double>(process.coverage.UntracedNs());
  return all_ns > 0 ? std::make_optional(traced_ns / all_ns) : std::nullopt;
}

}  // namespace

void RunMetrics::RenewWorth(const RunState& run_state) {
  Summary summary;
  const std::optional<StepsSpan> steps = SummarizeSteps(run_state, &summary);
  worths_.Renew(run_state, Analyze(run_state, steps));
}

void RunMetrics::RenewSteps(const RunState& run_state) {
  Summary summary;
  const auto span = SummarizeSteps(run_state, &summary);
  progress_.Update(run_state, summary.steps(), span);
  process_progress_.Update(run_state, summary.steps(), span);
}

MetricsSnapshot RunMetrics::Take(const RunState& run_state, const CollectorCost& cost) {
  Update(run_state);
  superseded_ = Superseded(run_state);
  MetricsSnapshot snapshot;
  AddWork(run_state, &snapshot);
  AddDevices(run_state, &snapshot);
  AddJob(run_state, &snapshot);
  AddProcesses(run_state, &snapshot);
  AddApplication(run_state, &snapshot);
  AddCollector(run_state, cost, &snapshot);
  return snapshot;
}

uint64_t RunMetrics::KnownNs(uint32_t device) const {
  return device < history_.size() ? history_[device].known_ns() : 0;
}

std::optional<double> RunMetrics::NvmlBusy(uint32_t device) const {
  return device < history_.size() ? history_[device].Rates({}).nvml_busy : std::nullopt;
}

void RunMetrics::Update(const RunState& run_state) {
  work_.Update(run_state, worths_);
  time_.Update(run_state, work_);
  processes_.Update(run_state);
  process_history_.Update(run_state, work_);
  std::erase_if(process_places_,
                [&](const auto& entry) { return !processes_.sums().contains(entry.first); });
  history_.resize(run_state.devices.size());
  energy_joules_.resize(run_state.devices.size());
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceWork work = i < work_.devices().size() ? work_.devices()[i] : DeviceWork();
    history_[i].Add(PointOf(run_state, i, work, time_.devices()[i]));
    if (const auto joules = run_state.devices[i].totals.energy_joules()) {
      energy_joules_[i].Update(*joules);
    }
  }
}

void RunMetrics::AddWork(const RunState& run_state, MetricsSnapshot* snapshot) {
  for (const auto& [pair, sum] : work_.sums()) {
    if (superseded_.contains(pair.second)) continue;
    const Labels labels = LabelsOf(run_state, pair.first, pair.second);
    for (const auto& [type, flops] : sum.flops) {
      snapshot->Add(Metric::kFlops, With(labels, "data_type", type), flops);
    }
    AddKnown(Metric::kFlopsPeakSeconds, labels, Seconds(sum.peak_ns), snapshot);
    AddKnown(Metric::kDramReadBytes, labels, sum.read_bytes, snapshot);
    AddKnown(Metric::kDramWriteBytes, labels, sum.write_bytes, snapshot);
    AddFamilies(sum, labels, snapshot);
    snapshot->Add(Metric::kFlopsUncountedSeconds, labels, sum.flops_uncounted_ns * kSecondsPerNs);
    snapshot->Add(Metric::kDramUncountedSeconds, labels, sum.bytes_uncounted_ns * kSecondsPerNs);
  }
}

void RunMetrics::AddDevices(const RunState& run_state, MetricsSnapshot* snapshot) {
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceState& device = run_state.devices[i];
    if (!device.used) continue;
    const Labels labels = LabelsOf(run_state, i, std::nullopt);
    AddCauses(time_.devices()[i], labels, snapshot);
    if (device.totals.energy_joules().has_value()) {
      snapshot->Add(Metric::kEnergyJoules, labels, energy_joules_[i].value());
    }
    AddRates(history_[i].Rates(CeilingsOf(device)), labels, snapshot);
    AddReadings(device, labels, snapshot);
    if (device.samples.samples() == 0 && device.samples.lost() == 0) continue;
    snapshot->Add(Metric::kCounterSamples, labels, static_cast<double>(device.samples.samples()));
    snapshot->Add(Metric::kCounterSamplesLost, labels,
                  static_cast<double>(device.samples.lost() + device.samples.refused()));
    if (device.attribution_cpu_ns == 0) continue;
    snapshot->Add(Metric::kAttributionCpuSeconds, labels,
                  static_cast<double>(device.attribution_cpu_ns) * kSecondsPerNs);
  }
}

void RunMetrics::AddJob(const RunState& run_state, MetricsSnapshot* snapshot) {
  const std::optional<double> steps = progress_.steps();
  if (!steps.has_value()) return;
  const Labels labels = LabelsOf(run_state, std::nullopt, std::nullopt);
  const auto add_each = [&](Metric metric, double of_a_step) {
    if (of_a_step > 0) snapshot->Add(metric, labels, of_a_step * *steps);
  };
  add_each(Metric::kSteps, 1);
  AddKnown(Metric::kStepSeconds, labels, progress_.StepSeconds(), snapshot);
  add_each(Metric::kTokens, run_state.work.tokens_per_step());
  add_each(Metric::kItems, run_state.work.items_per_step());
  add_each(Metric::kModelFlops, FlopsPerStep(run_state.work));
  AddKnown(Metric::kMfu, labels, Mfu(run_state), snapshot);
}

std::optional<double> RunMetrics::Mfu(const RunState& run_state) const {
  return MfuOf(progress_.StepSeconds(), FlopsPerStep(run_state.work), worths_.peak_of_run());
}

void RunMetrics::AddProcesses(const RunState& run_state, MetricsSnapshot* snapshot) {
  for (const auto& [source, counts] : processes_.sums()) {
    if (superseded_.contains(source)) continue;
    const Labels labels = LabelsOf(run_state, std::nullopt, source);
    const auto sum = [&sums = counts](ProcessCount count) {
      return sums[static_cast<size_t>(count)];
    };
    AddKnown(Metric::kProcessStepSeconds, labels, process_progress_.StepSeconds(source), snapshot);
    AddKnown(Metric::kProcessHfu, labels, process_history_.Hfu(source), snapshot);
    if (LivesAlone(run_state, source)) {
      AddKnown(Metric::kProcessMfu, labels, Mfu(run_state), snapshot);
    }
    snapshot->Add(Metric::kOperations, labels, sum(ProcessCount::kOperations));
    AddKnown(Metric::kTracedRatio, labels, TracedShare(run_state, source), snapshot);
    snapshot->Add(Metric::kAgentCostSeconds, labels,
                  sum(ProcessCount::kAgentCostNs) * kSecondsPerNs);
    snapshot->Add(Metric::kLaunchesDropped, labels, sum(ProcessCount::kLaunchesDropped));
    snapshot->Add(Metric::kLaunchesUntimed, labels, sum(ProcessCount::kLaunchesUntimed));
    snapshot->Add(Metric::kRecordsLost, labels, sum(ProcessCount::kRecordsLost));
  }
}

void RunMetrics::AddApplication(const RunState& run_state, MetricsSnapshot* snapshot) {
  if (run_state.application.count() == 0) return;
  const ApplicationReading& last = run_state.application.last();
  application_.Update(last, Energy(run_state));
  const ApplicationRates rates = application_.Rates();
  const Labels labels = With(HostLabels(run_state), "engine", last.engine());
  const auto add = [&](Metric metric, bool has, double value) {
    if (has) snapshot->Add(metric, labels, value);
  };
  add(Metric::kAppRequests, last.has_requests(), last.requests());
  if (last.has_prompt_tokens()) {
    snapshot->Add(Metric::kAppTokens, With(labels, "kind", "prompt"), last.prompt_tokens());
  }
  if (last.has_generated_tokens()) {
    snapshot->Add(Metric::kAppTokens, With(labels, "kind", "generated"), last.generated_tokens());
  }
  add(Metric::kAppEstimatedFlops, last.has_estimated_flops(), last.estimated_flops());
  add(Metric::kAppWaiting, last.has_waiting(), last.waiting());
  add(Metric::kAppRunning, last.has_running(), last.running());
  add(Metric::kAppTimestamp, true, static_cast<double>(last.time_ns()) * kSecondsPerNs);
  AddKnown(Metric::kAppRequestRate, labels, rates.requests_per_second, snapshot);
  AddKnown(Metric::kAppTokenRate, labels, rates.tokens_per_second, snapshot);
  AddKnown(Metric::kAppTokensPerJoule, labels, rates.tokens_per_joule, snapshot);
  AddKnown(Metric::kAppJoulesPerToken, labels, rates.joules_per_token, snapshot);
  if (rates.tokens_per_second.value_or(0) > 0 && run_state.work.price_per_hour() > 0) {
    snapshot->Add(Metric::kAppCostPerToken, labels,
                  run_state.work.price_per_hour() / 3600 / *rates.tokens_per_second);
  }
  AddKnown(Metric::kAppFirstToken, With(labels, "share", "0.99"), rates.first_token_p99_seconds,
           snapshot);
  const auto roof = ShareOfRoof(run_state);
  if (rates.tokens_per_second.has_value() && roof.value_or(0) > 0) {
    snapshot->Add(Metric::kAppTokensPerRoof, labels, *rates.tokens_per_second / (100 * *roof));
  }
}

// The energy of all GPUs in use; nothing if one of them reports none.
std::optional<EnergyReading> RunMetrics::Energy(const RunState& run_state) const {
  EnergyReading energy;
  double devices = 0;
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceState& device = run_state.devices[i];
    if (!device.used) continue;
    if (!device.totals.energy_joules().has_value()) return std::nullopt;
    energy.joules += energy_joules_[i].value();
    energy.time_ns += static_cast<double>(device.totals.energy_time_ns());
    ++devices;
  }
  if (devices == 0) return std::nullopt;
  energy.time_ns /= devices;
  return energy;
}

// The mean over GPUs of how near each is to the roof that is nearer.
std::optional<double> RunMetrics::ShareOfRoof(const RunState& run_state) const {
  double sum = 0;
  int devices = 0;
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    if (!run_state.devices[i].used) continue;
    const DeviceRates rates = history_[i].Rates(CeilingsOf(run_state.devices[i]));
    const auto nearer = std::max(rates.compute_speed_of_light, rates.memory_speed_of_light);
    if (!nearer.has_value()) continue;
    sum += *nearer;
    ++devices;
  }
  return devices > 0 ? std::make_optional(sum / devices) : std::nullopt;
}

void RunMetrics::AddCollector(const RunState& run_state, const CollectorCost& cost,
                              MetricsSnapshot* snapshot) {
  const Labels labels = LabelsOf(run_state, std::nullopt, std::nullopt);
  double live = 0;
  for (const auto& [source, process] : run_state.processes.processes())
    live += process->live() ? 1 : 0;
  frames_refused_.Update(static_cast<double>(run_state.frames_refused));
  snapshot->Add(Metric::kFramesRefused, labels, frames_refused_.value());
  snapshot->Add(Metric::kCollectorCpuSeconds, labels, cost.cpu_seconds);
  snapshot->Add(Metric::kSnapshotCpuSeconds, labels, cost.snapshot_cpu_seconds);
  snapshot->Add(Metric::kSnapshotTimestamp, labels, cost.time_seconds);
  snapshot->Add(Metric::kLiveProcesses, labels, live);
  if (run_state.run_start.has_value() && !run_state.run_start->utlz_version().empty()) {
    snapshot->Add(Metric::kBuildInfo, With(labels, "version", run_state.run_start->utlz_version()),
                  1);
  }
}

Labels RunMetrics::LabelsOf(const RunState& run_state, std::optional<uint32_t> device,
                            std::optional<uint32_t> source) {
  Labels labels = device.has_value() ? DeviceLabels(run_state, *device) : Labels();
  if (run_state.run_start.has_value()) AddLabel("Hostname", run_state.run_start->host(), &labels);
  if (source.has_value()) {
    for (auto& label : ProcessLabels(run_state, *source)) labels.push_back(std::move(label));
  }
  return labels;
}

std::set<uint32_t> RunMetrics::Superseded(const RunState& run_state) {
  std::set<uint32_t> superseded;
  std::map<std::string, uint32_t> newest;  // by labels
  for (const auto& [source, counts] : processes_.sums()) {
    std::string key;
    for (const auto& [name, value] : ProcessLabels(run_state, source)) {
      key += std::string(name) + '\n' + value + '\n';
    }
    const auto [found, is_new] = newest.emplace(std::move(key), source);
    if (!is_new) superseded.insert(std::exchange(found->second, source));
  }
  return superseded;
}

Labels RunMetrics::DeviceLabels(const RunState& run_state, uint32_t device) {
  const DeviceState& state = run_state.devices[device];
  auto found = device_places_.find(device);
  if (found == device_places_.end() && !state.info.pci_bus().empty()) {
    found = device_places_
                .emplace(device,
                         finders_.device ? finders_.device(state.info.pci_bus()) : DevicePlace())
                .first;
  }
  const DevicePlace place = found == device_places_.end() ? DevicePlace() : found->second;
  Labels labels;
  AddLabel("gpu", place.index, &labels);
  AddLabel("UUID", FormatGpuUuid(state.uuid), &labels);
  AddLabel("device", place.file, &labels);
  AddLabel("modelName", state.info.name(), &labels);
  return labels;
}

Labels RunMetrics::ProcessLabels(const RunState& run_state, uint32_t source) {
  const auto process = run_state.processes.processes().find(source);
  if (source == WorkLedger::kOthers || process == run_state.processes.processes().end()) {
    return {{"process", "other"}};
  }
  const Process& info = process->second->info;
  const uint64_t pid = info.host_pid() != 0 ? info.host_pid() : info.pid();
  auto found = process_places_.find(source);
  if (found == process_places_.end() && pid != 0) {
    found =
        process_places_.emplace(source, finders_.process ? finders_.process(pid) : ProcessPlace())
            .first;
  }
  const ProcessPlace place = found == process_places_.end() ? ProcessPlace() : found->second;
  const std::string_view program = info.executable().empty() && info.arguments_size() > 0
                                       ? info.arguments(0)
                                       : std::string_view(info.executable());
  Labels labels;
  if (pid != 0) AddLabel("pid", std::to_string(pid), &labels);
  AddLabel("process", BaseName(program), &labels);
  if (info.has_rank()) AddLabel("rank", std::to_string(info.rank()), &labels);
  AddLabel("pod", place.pod, &labels);
  AddLabel("pod_uid", place.pod_uid, &labels);
  AddLabel("namespace", place.pod_namespace, &labels);
  AddLabel("container", place.container, &labels);
  AddLabel("hpc_job", place.job, &labels);
  return labels;
}

}  // namespace utlz
