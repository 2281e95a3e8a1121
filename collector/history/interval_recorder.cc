#include "collector/history/interval_recorder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "collector/metrics/label_text.h"

namespace utlz {
namespace {

// In the order of the counts and means that the recorder keeps.
constexpr std::array kDeviceCountMetrics = {
    Metric::kKernelSeconds, Metric::kFlopsUncountedSeconds, Metric::kKernelLaunches,
    Metric::kFlops,         Metric::kFlopsPeakSeconds, Metric::kDramReadBytes,
    Metric::kDramWriteBytes, Metric::kEstimatedSavingsSeconds, Metric::kEnergyJoules};
constexpr std::array kDeviceMeanMetrics = {Metric::kSmActive, Metric::kNvmlBusy,
                                           Metric::kComputeSpeedOfLight,
                                           Metric::kMemorySpeedOfLight};
constexpr std::array kJobCountMetrics = {
    Metric::kSteps,           Metric::kTokens,      Metric::kItems,        Metric::kModelFlops,
    Metric::kLaunchesDropped, Metric::kRecordsLost, Metric::kFramesRefused};

std::optional<size_t> CauseNamed(std::string_view name) {
  for (size_t i = 0; i < kTimeCauses; ++i) {
    if (name == NameOf(static_cast<TimeCause>(i))) return i;
  }
  return std::nullopt;
}

void AddTo(double value, std::optional<double>* sum) { *sum = sum->value_or(0) + value; }

// What it grew by; nothing where it is not known.
std::optional<double> Growth(const std::optional<double>& now,
                             const std::optional<double>& before) {
  if (!now.has_value()) return std::nullopt;
  return std::max(0.0, *now - before.value_or(0));
}

template <typename Set>
void SetKnown(const std::optional<double>& value, const Set& set) {
  if (value.has_value()) set(*value);
}

}  // namespace

IntervalRecorder::IntervalRecorder(const HistoryRunName& name, const HistoryTime& begin,
                                   uint64_t interval_ns)
    : name_(name), interval_ns_(interval_ns), begin_ns_(begin.monotonic_ns) {}

std::optional<HistoryInterval> IntervalRecorder::Add(const MetricsSnapshot& snapshot,
                                                      const HistoryTime& now) {
  Read(snapshot);
  if (now.monotonic_ns < begin_ns_ + interval_ns_) return std::nullopt;
  return End(now, /*last=*/false);
}

HistoryInterval IntervalRecorder::Close(const HistoryTime& now) { return End(now, /*last=*/true); }

IntervalRecorder::DeviceTotals* IntervalRecorder::DeviceOf(const MetricSample& sample) {
  const std::string_view uuid = LabelOf(sample, "UUID");
  if (uuid.empty()) return nullptr;
  const auto found = now_.devices.find(std::string(uuid));
  if (found != now_.devices.end()) return &found->second;
  if (now_.devices.size() >= kMostDevices) return nullptr;
  DeviceTotals& device = now_.devices[std::string(uuid)];
  device.name = LabelOf(sample, "modelName");
  return &device;
}

void IntervalRecorder::Read(const MetricsSnapshot& snapshot) {
  static_assert(kDeviceCountMetrics.size() == kDeviceCounts);
  static_assert(kDeviceMeanMetrics.size() == kDeviceMeans);
  static_assert(kJobCountMetrics.size() == kJobCounts);
  now_.counts = {};
  now_.processes = 0;
  for (auto& [uuid, device] : now_.devices) device.counts = {};
  for (size_t i = 0; i < kDeviceCounts; ++i) {
    for (const MetricSample& sample : snapshot.Of(kDeviceCountMetrics[i])) {
      if (DeviceTotals* device = DeviceOf(sample)) AddTo(sample.value, &device->counts[i]);
    }
  }
  for (const MetricSample& sample : snapshot.Of(Metric::kGpuTimeSeconds)) {
    DeviceTotals* device = DeviceOf(sample);
    const std::optional<size_t> cause = CauseNamed(LabelOf(sample, "cause"));
    if (device != nullptr && cause) AddTo(sample.value, &device->counts[kDeviceCounts + *cause]);
  }
  for (size_t i = 0; i < kDeviceMeans; ++i) {
    for (const MetricSample& sample : snapshot.Of(kDeviceMeanMetrics[i])) {
      DeviceTotals* device = DeviceOf(sample);
      if (device == nullptr) continue;
      device->means[i].sum += sample.value;
      ++device->means[i].samples;
    }
  }
  for (size_t i = 0; i < kJobCounts; ++i) {
    for (const MetricSample& sample : snapshot.Of(kJobCountMetrics[i])) {
      AddTo(sample.value, &now_.counts[i]);
    }
  }
  for (const MetricSample& sample : snapshot.Of(Metric::kLiveProcesses)) {
    now_.processes += sample.value;
  }
}

HistoryInterval IntervalRecorder::End(const HistoryTime& now, bool last) {
  HistoryInterval interval;
  interval.set_run(name_.run);
  interval.set_number(next_number_++);
  interval.set_end_ns(now.realtime_ns);
  interval.set_duration_ns(now.monotonic_ns - std::min(begin_ns_, now.monotonic_ns));
  interval.set_job(LabelText(name_.job));
  interval.set_host(LabelText(name_.host));
  interval.set_program(LabelText(name_.program));
  interval.set_profile(LabelText(name_.profile));
  interval.set_last(last);
  const auto of_job = [this](size_t i) { return Growth(now_.counts[i], before_.counts[i]); };
  SetKnown(of_job(0), [&](double value) { interval.set_steps(value); });
  SetKnown(of_job(1), [&](double value) { interval.set_tokens(value); });
  SetKnown(of_job(2), [&](double value) { interval.set_items(value); });
  SetKnown(of_job(3), [&](double value) { interval.set_model_flops(value); });
  interval.set_launches_dropped(of_job(4).value_or(0));
  interval.set_records_lost(of_job(5).value_or(0));
  interval.set_frames_refused(of_job(6).value_or(0));
  interval.set_processes(now_.processes);
  for (auto& [uuid, device] : now_.devices) {
    const DeviceTotals& before = before_.devices[uuid];
    HistoryDevice* out = interval.add_device();
    out->set_uuid(LabelText(uuid));
    out->set_name(LabelText(device.name));
    const auto of = [&counts = device.counts, &earlier = before.counts](size_t i) {
      return Growth(counts[i], earlier[i]);
    };
    for (size_t i = 0; i < kTimeCauses; ++i) {
      out->add_cause_seconds(of(kDeviceCounts + i).value_or(0));
    }
    out->set_kernel_seconds(of(0).value_or(0));
    out->set_uncounted_seconds(of(1).value_or(0));
    out->set_launches(of(2).value_or(0));
    SetKnown(of(3), [&](double value) { out->set_flops(value); });
    SetKnown(of(4), [&](double value) { out->set_flops_peak_seconds(value); });
    SetKnown(of(5), [&](double value) { out->set_dram_read_bytes(value); });
    SetKnown(of(6), [&](double value) { out->set_dram_write_bytes(value); });
    SetKnown(of(7), [&](double value) { out->set_recoverable_seconds(value); });
    SetKnown(of(8), [&](double value) { out->set_energy_joules(value); });
    const auto mean = [&means = device.means](size_t i) -> std::optional<double> {
      if (means[i].samples == 0) return std::nullopt;
      return means[i].sum / means[i].samples;
    };
    SetKnown(mean(0), [&](double value) { out->set_sm_active(value); });
    SetKnown(mean(1), [&](double value) { out->set_nvml_busy(value); });
    SetKnown(mean(2), [&](double value) { out->set_compute_speed_of_light(value); });
    SetKnown(mean(3), [&](double value) { out->set_memory_speed_of_light(value); });
    device.means = {};
  }
  before_ = now_;
  begin_ns_ = now.monotonic_ns;
  return interval;
}

}  // namespace utlz
