#include "collector/summary/device_summary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string>

#include "collector/analysis/device_counter_sums.h"
#include "collector/analysis/device_view.h"
#include "collector/analysis/power_in_steps.h"
#include "collector/analysis/unrecorded_work.h"
#include "collector/gpu_uuid.h"
#include "collector/summary/longest_idle.h"

namespace utlz {
namespace {

double BusyNs(const StretchContent& content) { return content.KernelNs() + content.CopyNs(); }

void SetIdentity(const DeviceState& state, DeviceSummary* summary) {
  const DevicePeaks peaks = state.peaks.value_or(DevicePeaks());
  const auto set = [](const std::string& first, const std::string& second, auto setter) {
    if (!first.empty()) {
      setter(first);
    } else if (!second.empty()) {
      setter(second);
    }
  };
  const std::string uuid = FormatGpuUuid(state.uuid);
  if (!uuid.empty()) summary->set_uuid(uuid);
  set(state.info.name(), peaks.name(), [&](const auto& name) { summary->set_name(name); });
  set(state.info.pci_bus(), peaks.pci_bus(), [&](const auto& bus) { summary->set_pci_bus(bus); });
  if (!peaks.chip().empty()) summary->set_chip(peaks.chip());
  const uint32_t multiprocessors =
      state.info.multiprocessors() > 0 ? state.info.multiprocessors() : peaks.multiprocessors();
  if (multiprocessors > 0) summary->set_multiprocessors(multiprocessors);
  const uint64_t memory =
      state.info.memory_bytes() > 0 ? state.info.memory_bytes() : peaks.memory_bytes();
  if (memory > 0) summary->set_memory_bytes(memory);
}

void SetTimes(const DeviceView& view, bool of_steps, DeviceSummary* summary) {
  const ConcurrencyTracker& sweep = view.state.sweep;
  const StretchContent& content = view.analysis.part.content;
  const Extent window = WindowOf(view);
  if (window.time_ns <= 0) return;
  const auto rounded = [](double time_ns) { return static_cast<uint64_t>(std::llround(time_ns)); };
  summary->set_steady_state_ns(rounded(window.time_ns));
  summary->set_gpu_busy_share(BusyNs(content) / window.time_ns);
  summary->set_kernel_time_ns(rounded(content.KernelNs()));
  summary->set_copy_time_ns(rounded(content.CopyNs()));
  summary->set_idle_time_ns(rounded(content.IdleNs()));
  const ActivityMask communication = MaskOf(ActivityKind::kCommunication);
  if (sweep.TimeNs(communication) > 0) {
    summary->set_communication_time_ns(sweep.TimeNs(communication));
    summary->set_exposed_communication_ns(
        sweep.TimeNs(communication, MaskOf(ActivityKind::kCompute)));
  }
  const Extent run = RunOf(view);
  if (!of_steps || run.time_ns <= 0) return;
  summary->set_run_traced_ns(rounded(run.time_ns));
  const double busy_ns = view.scale * static_cast<double>(sweep.TimeNs(kKernelMask | kCopyMask));
  summary->set_run_gpu_busy_share(std::min(1.0, busy_ns / SpanNs(view)));
}

void SetBytes(const DeviceView& view, DeviceSummary* summary) {
  const Extent run = RunOf(view);
  const auto read = SumOf(view, run, METRIC_DRAM_READ_BYTES);
  const auto write = SumOf(view, run, METRIC_DRAM_WRITE_BYTES);
  if (!read.has_value() || !write.has_value()) return;
  summary->set_dram_read_bytes(read->value * view.scale);
  summary->set_dram_write_bytes(write->value * view.scale);
  const double variance = read->variance + write->variance;
  if (variance > 0) {
    summary->set_dram_bytes_error(std::sqrt(variance) * view.scale);
    summary->set_dram_bytes_error_assumed(
        std::sqrt(read->assumed_variance + write->assumed_variance) * view.scale);
  }
  const double bandwidth = view.analysis.ceilings.dram_bytes_per_second;
  const Extent window = WindowOf(view);
  if (window.time_ns > 0) {
    const auto window_read = SumOf(view, window, METRIC_DRAM_READ_BYTES);
    const auto window_write = SumOf(view, window, METRIC_DRAM_WRITE_BYTES);
    if (!window_read.has_value() || !window_write.has_value()) return;
    const double bytes = window_read->value + window_write->value;
    summary->set_dram_bytes_per_second(bytes / window.time_ns * 1e9);
    if (bandwidth > 0) {
      summary->set_hbm_bandwidth_share(std::min(1.0, summary->dram_bytes_per_second() / bandwidth));
    }
  }
  const auto& totals = view.analysis.attribution.totals;
  if (!totals[METRIC_DRAM_READ_BYTES] || !totals[METRIC_DRAM_WRITE_BYTES]) return;
  const CounterTotal& reads = *totals[METRIC_DRAM_READ_BYTES];
  const CounterTotal& writes = *totals[METRIC_DRAM_WRITE_BYTES];
  const double counted = reads.counted + writes.counted;
  if (counted <= 0) return;
  summary->set_attributed_bytes_share((reads.attributed + writes.attributed) / counted);
  summary->set_idle_bytes_share((reads.idle + writes.idle) / counted);
  summary->set_unattributed_bytes_share((reads.unattributed + writes.unattributed) / counted);
}

void SetFlops(const DeviceView& view, DeviceSummary* summary) {
  const Extent run = RunOf(view);
  const FlopsSum in_run = FlopsIn(view, run);
  const bool run_counted = FlopsCounted(view, run, in_run);
  if (run_counted) {
    summary->set_flops(in_run.flops * view.scale);
    summary->set_flops_error(std::sqrt(in_run.variance) * view.scale);
    summary->set_flops_error_assumed(std::sqrt(in_run.assumed_variance) * view.scale);
  }
  const Extent window = WindowOf(view);
  const FlopsSum in_window = FlopsIn(view, window);
  if (window.time_ns <= 0 || !FlopsCounted(view, window, in_window)) return;
  summary->set_flops_per_second(in_window.flops / window.time_ns * 1e9);
  summary->set_hfu(in_window.peak_time_ns / window.time_ns);
  const double of_time = summary->hfu() * view.analysis.part.slowdown_error_ns;
  summary->set_hfu_error(std::hypot(std::sqrt(in_window.peak_variance), of_time) / window.time_ns);
  summary->set_hfu_error_assumed(std::sqrt(in_window.peak_assumed_variance) / window.time_ns);
  if (!summary->has_run_traced_ns() || !run_counted) return;
  summary->set_run_hfu(view.scale * in_run.peak_time_ns / SpanNs(view));
}

constexpr double kMostOfBusy = 1.1;

// Shares by samples where there are any, else by NVML's GPM counters.
void SetActiveShares(const DeviceView& view, DeviceSummary* summary) {
  const std::optional<StepsSpan>& steps = view.steps;
  const Extent window = WindowOf(view);
  const double cycles = window.time_ns * 1e-9 * view.analysis.ceilings.clock_hz;
  const auto share = [&](MetricRole role, const BoundedSeries& gpm,
                         std::optional<double> gpm_mean) -> std::optional<double> {
    const auto sum = SumOf(view, window, role);
    if (sum.has_value() && cycles > 0) return std::clamp(sum->value / cycles, 0.0, 1.0);
    if (!steps.has_value()) return gpm_mean;
    const auto in_steps = gpm.MeanBetween(steps->start_ns, steps->end_ns);
    return in_steps.has_value() ? in_steps : gpm_mean;
  };
  const DeviceTotals& totals = view.state.totals;
  if (const auto sm =
          share(METRIC_SM_CYCLES_ACTIVE, totals.sm_active_series(), totals.gpm_sm_active_share())) {
    summary->set_sm_active_share(*sm);
    // NVML's counters are of all time: of a GPU that worked more while nothing was traced they say
    // more than can be of the time that was.
    const bool comparable = *sm <= kMostOfBusy * summary->gpu_busy_share();
    if (summary->gpu_busy_share() > 0 && comparable) {
      summary->set_efficiency_score(std::min(1.0, *sm / summary->gpu_busy_share()));
    }
  }
  if (const auto tensor = share(METRIC_TENSOR_ACTIVE, totals.tensor_active_series(),
                                totals.gpm_tensor_active_share())) {
    summary->set_tensor_active_share(*tensor);
  }
  if (!summary->has_hbm_bandwidth_share() && totals.gpm_dram_active_share().has_value()) {
    const auto in_steps =
        steps.has_value() ? totals.dram_active_series().MeanBetween(steps->start_ns, steps->end_ns)
                          : std::nullopt;
    summary->set_hbm_bandwidth_share(in_steps.value_or(*totals.gpm_dram_active_share()));
  }
}

void SetRoofline(const DeviceView& view, DeviceSummary* summary) {
  double roofline_ns = 0;
  double attained_ns = 0;
  double savings_ns = 0;
  bool known = false;
  for (const KernelRow* row : view.rows) {
    const auto time_ns = RooflineTimeNs(row->roofline);
    if (!time_ns.has_value() || row->roofline.communication) continue;
    known = true;
    roofline_ns += std::min(*time_ns, row->time_ns);
    attained_ns += std::min(RooflineTimeNs(row->attained).value_or(row->time_ns), row->time_ns);
    savings_ns += std::max(0.0, row->time_ns - *time_ns);
  }
  if (!known) return;
  summary->set_roofline_time_ns(roofline_ns);
  summary->set_estimated_savings_ns(savings_ns);
  if (view.analysis.ceilings.measured()) summary->set_attained_roofline_time_ns(attained_ns);
}

void SetPeaks(const DeviceView& view, DeviceSummary* summary) {
  const Ceilings& ceilings = view.analysis.ceilings;
  if (ceilings.clock_hz > 0) summary->set_sm_clock_hz(ceilings.clock_hz);
  if (ceilings.clock_error_hz.has_value()) {
    summary->set_sm_clock_error_hz(*ceilings.clock_error_hz);
  }
  if (ceilings.clock_maximum_hz > 0) summary->set_sm_clock_maximum_hz(ceilings.clock_maximum_hz);
  if (ceilings.dram_bytes_per_second > 0) {
    summary->set_peak_dram_bytes_per_second(ceilings.dram_bytes_per_second);
  }
  if (view.state.peaks.has_value() && view.state.peaks->l2_bytes_per_cycle() > 0 &&
      ceilings.clock_hz > 0) {
    summary->set_peak_l2_bytes_per_second(view.state.peaks->l2_bytes_per_cycle() *
                                          ceilings.clock_hz);
  }
  for (const auto& [data_type, per_cycle] : ceilings.flops_per_cycle) {
    PeakSummary* peak = summary->add_peaks();
    peak->set_data_type(data_type);
    if (ceilings.clock_hz > 0) peak->set_flops_per_second(per_cycle * ceilings.clock_hz);
    if (ceilings.clock_maximum_hz > 0) {
      peak->set_flops_per_second_maximum_clock(per_cycle * ceilings.clock_maximum_hz);
    }
    peak->set_source(ceilings.peak_source.at(data_type));
    const auto attained = ceilings.attained_flops_per_second.find(data_type);
    if (attained != ceilings.attained_flops_per_second.end()) {
      peak->set_attained_flops_per_second(attained->second);
    }
  }
  if (!ceilings.measured()) return;
  summary->set_ceilings_time_ns(ceilings.attained_time_ns);
  if (ceilings.attained_dram_bytes_per_second > 0) {
    summary->set_attained_dram_bytes_per_second(ceilings.attained_dram_bytes_per_second);
  }
}

void SetReadings(const DeviceState& state, const std::optional<StepsSpan>& steps,
                 DeviceSummary* summary) {
  const DeviceTotals& totals = state.totals;
  if (const auto value = totals.energy_joules()) summary->set_energy_joules(*value);
  const auto in_steps = steps.has_value() ? PowerInSteps(state, *steps) : std::nullopt;
  const auto power = in_steps.has_value() ? in_steps : totals.power_watts();
  if (power.has_value()) summary->set_power_watts(*power);
  if (const auto value = totals.temperature_max()) summary->set_temperature_celsius_max(*value);
  if (const auto value = totals.memory_used_max()) summary->set_memory_used_bytes_max(*value);
  if (const auto value = totals.busy_share()) summary->set_nvidia_smi_busy_share(*value);
  for (const std::string& limit : totals.ClockLimits()) summary->add_clock_limits(limit);
}

void SetLongestIdle(const RunState& run_state, const DeviceState& state, DeviceSummary* summary) {
  const std::optional<IdleStretch> idle = FindLongestIdle(state);
  if (!idle.has_value()) return;
  summary->set_longest_idle_ns(static_cast<double>(idle->end_ns - idle->start_ns));
  if (!run_state.run_start.has_value()) return;
  // A sampler may have looked before the run began.
  const uint64_t origin_ns = run_state.run_start->time_ns();
  summary->set_longest_idle_start_ns(
      static_cast<double>(std::max(idle->start_ns, origin_ns) - origin_ns));
}

void SetSource(const DeviceView& view, DeviceSummary* summary) {
  CounterSource source = SOURCE_TIME_ONLY;
  if (view.state.totals.gpm_sm_active_share().has_value()) source = SOURCE_GPM;
  if (view.analysis.sampled) source = SOURCE_SAMPLED;
  for (const KernelRow* row : view.rows) {
    for (const TypedFlops& typed : row->work.flops) source = std::max(source, typed.source);
  }
  if (view.analysis.sampled && source == SOURCE_RANGE) source = SOURCE_CALIBRATED;
  summary->set_source(source);
  if (view.state.other_processes > 0) summary->set_other_processes(view.state.other_processes);
  if (view.analysis.overlap_share > 0) {
    summary->set_overlap_share(view.analysis.overlap_share);
    summary->set_overlapping_processes(static_cast<uint32_t>(view.state.overlap.processes()));
  }
  if (view.state.mps) summary->set_mps(true);
  const bool others = view.state.other_processes > 0 || view.state.mps;
  const auto unrecorded = UnrecordedWorkShare(view.analysis.attribution);
  if (unrecorded.has_value() && !others) summary->set_unrecorded_work_share(*unrecorded);
  if (!view.state.status.has_value()) return;
  if (!view.state.status->reason().empty()) summary->set_source_reason(view.state.status->reason());
  if (!view.state.status->remedy().empty()) summary->set_source_remedy(view.state.status->remedy());
}

std::string BusOf(const DeviceSummary& device) {
  std::string bus = device.pci_bus();
  std::transform(bus.begin(), bus.end(), bus.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return bus;
}

// As nvidia-smi numbers them: ranks that see one GPU each announce them as they happen to start.
// Hosts that were merged have GPUs on equal buses, and stay one after the other.
void OrderByBus(Summary* summary) {
  std::set<std::string> buses;
  for (const DeviceSummary& device : summary->devices()) {
    if (device.pci_bus().empty() || !buses.insert(BusOf(device)).second) return;
  }
  std::sort(summary->mutable_devices()->pointer_begin(), summary->mutable_devices()->pointer_end(),
            [](const DeviceSummary* a, const DeviceSummary* b) { return BusOf(*a) < BusOf(*b); });
}

}  // namespace

void SummarizeDevices(const RunState& run_state, const Analysis& analysis, Summary* summary) {
  for (uint32_t i = 0; i < run_state.devices.size(); ++i) {
    const DeviceState& state = run_state.devices[i];
    if (!state.used) continue;
    const DeviceView view = ViewOf(run_state, analysis, i);
    const std::optional<StepsSpan>& steps = analysis.steady.steps;
    DeviceSummary* device = summary->add_devices();
    SetIdentity(state, device);
    SetTimes(view, steps.has_value(), device);
    SetBytes(view, device);
    SetFlops(view, device);
    SetActiveShares(view, device);
    SetRoofline(view, device);
    SetPeaks(view, device);
    SetReadings(state, steps, device);
    SetLongestIdle(run_state, state, device);
    SetSource(view, device);
  }
  OrderByBus(summary);
}

std::optional<int> IndexInSummary(const RunState& run_state, uint32_t device,
                                  const Summary& summary) {
  const std::string uuid = FormatGpuUuid(run_state.devices[device].uuid);
  for (int i = 0; i < summary.devices_size(); ++i) {
    if (summary.devices(i).uuid() == uuid) return i;
  }
  return std::nullopt;
}

}  // namespace utlz
