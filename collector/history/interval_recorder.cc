#include "collector/history/interval_recorder.h"

#include <algorithm>
#include <string_view>

#include "collector/metrics/label_text.h"

namespace utlz {
namespace {

// A metric, and the field of an interval that has its growth or its mean.
template <typename Message>
struct Recorded {
  Metric metric;
  void (Message::*set)(double);
};

constexpr std::array kDeviceCountMetrics = {
    Recorded<HistoryDevice>{Metric::kKernelSeconds, &HistoryDevice::set_kernel_seconds},
    Recorded<HistoryDevice>{Metric::kFlopsUncountedSeconds, &HistoryDevice::set_uncounted_seconds},
    Recorded<HistoryDevice>{Metric::kKernelLaunches, &HistoryDevice::set_launches},
    Recorded<HistoryDevice>{Metric::kFlops, &HistoryDevice::set_flops},
    Recorded<HistoryDevice>{Metric::kFlopsPeakSeconds, &HistoryDevice::set_flops_peak_seconds},
    Recorded<HistoryDevice>{Metric::kDramReadBytes, &HistoryDevice::set_dram_read_bytes},
    Recorded<HistoryDevice>{Metric::kDramWriteBytes, &HistoryDevice::set_dram_write_bytes},
    Recorded<HistoryDevice>{Metric::kEstimatedSavingsSeconds,
                            &HistoryDevice::set_recoverable_seconds},
    Recorded<HistoryDevice>{Metric::kEnergyJoules, &HistoryDevice::set_energy_joules}};
constexpr std::array kDeviceMeanMetrics = {
    Recorded<HistoryDevice>{Metric::kSmActive, &HistoryDevice::set_sm_active},
    Recorded<HistoryDevice>{Metric::kNvmlBusy, &HistoryDevice::set_nvml_busy},
    Recorded<HistoryDevice>{Metric::kComputeSpeedOfLight,
                            &HistoryDevice::set_compute_speed_of_light},
    Recorded<HistoryDevice>{Metric::kMemorySpeedOfLight,
                            &HistoryDevice::set_memory_speed_of_light}};
constexpr std::array kJobCountMetrics = {
    Recorded<HistoryInterval>{Metric::kSteps, &HistoryInterval::set_steps},
    Recorded<HistoryInterval>{Metric::kTokens, &HistoryInterval::set_tokens},
    Recorded<HistoryInterval>{Metric::kItems, &HistoryInterval::set_items},
    Recorded<HistoryInterval>{Metric::kModelFlops, &HistoryInterval::set_model_flops},
    Recorded<HistoryInterval>{Metric::kLaunchesDropped, &HistoryInterval::set_launches_dropped},
    Recorded<HistoryInterval>{Metric::kRecordsLost, &HistoryInterval::set_records_lost},
    Recorded<HistoryInterval>{Metric::kFramesRefused, &HistoryInterval::set_frames_refused}};

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
    for (const MetricSample& sample : snapshot.Of(kDeviceCountMetrics[i].metric)) {
      if (DeviceTotals* device = DeviceOf(sample)) AddTo(sample.value, &device->counts[i]);
    }
  }
  for (const MetricSample& sample : snapshot.Of(Metric::kGpuTimeSeconds)) {
    DeviceTotals* device = DeviceOf(sample);
    const std::optional<size_t> cause = CauseNamed(LabelOf(sample, "cause"));
    if (device != nullptr && cause) AddTo(sample.value, &device->counts[kDeviceCounts + *cause]);
  }
  for (size_t i = 0; i < kDeviceMeans; ++i) {
    for (const MetricSample& sample : snapshot.Of(kDeviceMeanMetrics[i].metric)) {
      DeviceTotals* device = DeviceOf(sample);
      if (device == nullptr) continue;
      device->means[i].sum += sample.value;
      ++device->means[i].samples;
    }
  }
  for (size_t i = 0; i < kJobCounts; ++i) {
    for (const MetricSample& sample : snapshot.Of(kJobCountMetrics[i].metric)) {
      AddTo(sample.value, &now_.counts[i]);
    }
  }
  for (const MetricSample& sample : snapshot.Of(Metric::kLiveProcesses)) {
    now_.processes += sample.value;
  }
}

void IntervalRecorder::WriteDevice(const DeviceTotals& now, const DeviceTotals& before,
                                   HistoryDevice* device) {
  device->set_name(LabelText(now.name));
  const auto growth = [&](size_t i) { return Growth(now.counts[i], before.counts[i]); };
  for (size_t i = 0; i < kTimeCauses; ++i) {
    device->add_cause_seconds(growth(kDeviceCounts + i).value_or(0));
  }
  for (size_t i = 0; i < kDeviceCounts; ++i) {
    if (growth(i)) (device->*kDeviceCountMetrics[i].set)(*growth(i));
  }
  for (size_t i = 0; i < kDeviceMeans; ++i) {
    const Mean& mean = now.means[i];
    if (mean.samples > 0) (device->*kDeviceMeanMetrics[i].set)(mean.sum / mean.samples);
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
  for (size_t i = 0; i < kJobCounts; ++i) {
    const std::optional<double> growth = Growth(now_.counts[i], before_.counts[i]);
    if (growth) (interval.*kJobCountMetrics[i].set)(*growth);
  }
  interval.set_processes(now_.processes);
  for (auto& [uuid, device] : now_.devices) {
    HistoryDevice* written = interval.add_device();
    written->set_uuid(LabelText(uuid));
    WriteDevice(device, before_.devices[uuid], written);
    device.means = {};
  }
  before_ = now_;
  begin_ns_ = now.monotonic_ns;
  return interval;
}

}  // namespace utlz
