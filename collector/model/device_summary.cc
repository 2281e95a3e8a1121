#include "collector/model/device_summary.h"

#include <algorithm>
#include <cmath>

#include "collector/model/longest_idle.h"
#include "collector/normal_interval.h"

namespace utlz {
namespace {

// One device while its summary is made.
struct DeviceView {
  const ModelState& model;
  const DeviceState& state;
  const DeviceAnalysis& analysis;
  const std::optional<StepsSpan>& steps;
  std::vector<const KernelRow*> rows;
  double scale = 1;  // kernel time of the run ÷ what was traced of it
};

// A part of the device's traced time, and of its kernels.
struct Extent {
  double time_ns = 0;
  double kernel_share = 1;
  bool steady = false;
  // What was not traced included.
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

Extent WindowOf(const DeviceView& view) {
  const ActivitySweep& sweep = view.state.sweep;
  return {.time_ns = view.analysis.part.TimeNs(),
          .kernel_share = view.analysis.part.kernel_share,
          .steady = true,
          .start_ns = view.steps.has_value() ? view.steps->start_ns : sweep.first_ns(),
          .end_ns = view.steps.has_value() ? view.steps->end_ns : sweep.last_ns()};
}

// All traced time, from the first to the last activity.
Extent RunOf(const DeviceView& view) {
  const ActivitySweep& sweep = view.state.sweep;
  const uint64_t span_ns = sweep.last_ns() - sweep.first_ns();
  return {.time_ns = static_cast<double>(span_ns - std::min(span_ns, sweep.UntracedNs())),
          .start_ns = sweep.first_ns(),
          .end_ns = sweep.last_ns()};
}

double ShareIn(const KernelRow& row, const Extent& extent) {
  return extent.steady ? row.steady_share : 1;
}

// Launches of a kernel that were traced in an extent.
double LaunchesIn(const KernelRow& row, const Extent& extent) {
  return static_cast<double>(row.durations.count()) * ShareIn(row, extent);
}

double ScaleOf(const std::vector<const KernelRow*>& rows) {
  double run_ns = 0;
  double traced_ns = 0;
  for (const KernelRow* row : rows) {
    run_ns += row->time_ns;
    traced_ns += static_cast<double>(row->durations.sum_ns());
  }
  return traced_ns > 0 ? std::max(1.0, run_ns / traced_ns) : 1;
}

double BusyNs(const StretchContent& content) { return content.KernelNs() + content.CopyNs(); }

// From the first to the last activity, whether traced or not.
double SpanNs(const DeviceView& view) {
  return static_cast<double>(view.state.sweep.last_ns() - view.state.sweep.first_ns());
}

void SetIdentity(const DeviceState& state, DeviceSummary* summary) {
  const DevicePeaks peaks = state.peaks.value_or(DevicePeaks());
  const auto set = [](const std::string& first, const std::string& second, auto setter) {
    if (!first.empty()) {
      setter(first);
    } else if (!second.empty()) {
      setter(second);
    }
  };
  const std::string uuid = FormatUuid(state.uuid);
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
  const ActivitySweep& sweep = view.state.sweep;
  const StretchContent& content = view.analysis.part.content;
  const Extent window = WindowOf(view);
  if (window.time_ns <= 0) return;
  const auto rounded = [](double time_ns) { return static_cast<uint64_t>(std::llround(time_ns)); };
  summary->set_window_ns(rounded(window.time_ns));
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
  summary->set_run_window_ns(rounded(run.time_ns));
  const double busy_ns = view.scale * static_cast<double>(sweep.TimeNs(kKernelMask | kCopyMask));
  summary->set_run_gpu_busy_share(std::min(1.0, busy_ns / SpanNs(view)));
}

// Sum over kernels and copies of one counter, in an extent of traced time.
struct CounterSum {
  double value = 0;
  double variance = 0;
  double other_variance = 0;  // of it, what is not the errors of kernels' own counters
};

// Below this share of the kernel time, kernels that counters met are no sample of the others.
constexpr double kEnoughCounted = 0.5;
// Samples of less time, or of fewer steps, are no sample of an extent.
constexpr double kFewestSampledNs = 1e6;
constexpr double kFewestSampledSteps = 3;

// The series that holds a counter, and what its values count in a nanosecond; null: none does.
struct SeriesOfRole {
  const BoundedSeries* series = nullptr;
  double per_ns = 0;
};

SeriesOfRole SeriesOf(const DeviceView& view, MetricRole role) {
  const SampleTotals& samples = view.state.samples;
  const double cycles_per_ns = view.analysis.ceilings.clock_hz * 1e-9;
  switch (role) {
    case METRIC_SM_CYCLES_ACTIVE:
      return {&samples.sm_active_series(), cycles_per_ns};
    case METRIC_TENSOR_ACTIVE:
      return {&samples.tensor_active_series(), cycles_per_ns};
    case METRIC_DRAM_READ_BYTES:
    case METRIC_DRAM_WRITE_BYTES: {
      // The series is of both.
      const double read = samples.PerSecond(METRIC_DRAM_READ_BYTES).value_or(0);
      const double write = samples.PerSecond(METRIC_DRAM_WRITE_BYTES).value_or(0);
      const double own = role == METRIC_DRAM_READ_BYTES ? read : write;
      return {&samples.dram_series(), read + write > 0 ? own / (read + write) * 1e-9 : 0};
    }
    default:
      return {};
  }
}

// A GPU that ran kernels had at least one multiprocessor active meanwhile: samples that saw less
// are of other times.
bool SawKernels(const DeviceView& view) {
  const auto active = view.state.samples.PerSecond(METRIC_SM_CYCLES_ACTIVE);
  const double multiprocessors =
      std::max(view.state.info.multiprocessors(),
               view.state.peaks.has_value() ? view.state.peaks->multiprocessors() : 0);
  const double clock_hz = view.analysis.ceilings.clock_hz;
  const DevicePart& part = view.analysis.part;
  if (!active.has_value() || multiprocessors <= 0 || clock_hz <= 0 || part.TimeNs() <= 0)
    return true;
  constexpr double kPart = 0.5;
  return *active / clock_hz >= kPart * part.content.KernelNs() / part.TimeNs() / multiprocessors;
}

// What the device's own samples say, whatever ran: those taken in the extent, else all of them,
// where they missed the traced windows of a program that works throughout.
std::optional<CounterSum> SumOfSamples(const DeviceView& view, const Extent& extent,
                                       MetricRole role) {
  const SeriesOfRole of = SeriesOf(view, role);
  if (of.series != nullptr) {
    const auto estimate = of.series->EstimateBetween(extent.start_ns, extent.end_ns);
    const double fewest_ns =
        std::max(kFewestSampledNs,
                 view.steps.has_value() ? kFewestSampledSteps * view.steps->usual_step_ns : 0.0);
    if (estimate.has_value() && estimate->held_ns >= fewest_ns) {
      const double error = estimate->error * of.per_ns * extent.time_ns;
      return CounterSum{estimate->mean * of.per_ns * extent.time_ns, error * error, error * error};
    }
  }
  const SampleTotals& samples = view.state.samples;
  const auto per_second = samples.PerSecond(role);
  const bool enough = static_cast<double>(samples.sampled_ns()) >= kFewestSampledNs &&
                      2 * view.analysis.attribution.untraced_samples >= samples.samples();
  if (!per_second.has_value() || !enough || !SawKernels(view)) return std::nullopt;
  return CounterSum{*per_second * extent.time_ns * 1e-9};
}

// Kernels that no sample has covered yet are taken to work at the mean rate of those that one has,
// give or take all of it; where these are too few, the samples speak for the device.
std::optional<CounterSum> SumOf(const DeviceView& view, const Extent& extent, MetricRole role) {
  const auto& total = view.analysis.attribution.totals[role];
  // No sample met a traced launch.
  if (!total.has_value()) return SumOfSamples(view, extent, role);
  CounterSum sum;
  double known_ns = 0;
  double all_ns = 0;
  for (const KernelRow* row : view.rows) {
    const double launches = LaunchesIn(*row, extent);
    const double time_ns = row->time_ns * ShareIn(*row, extent);
    all_ns += time_ns;
    const auto& counter = row->part.counters[role];
    if (!counter.has_value()) continue;
    known_ns += time_ns;
    sum.value += launches * counter->value;
    sum.variance += launches * launches * counter->error * counter->error;
  }
  if (known_ns < kEnoughCounted * all_ns) return SumOfSamples(view, extent, role);
  if (known_ns > 0) {
    const double others = sum.value * (all_ns / known_ns - 1);
    sum.value += others;
    sum.variance *= (all_ns / known_ns) * (all_ns / known_ns);
    sum.other_variance = others * others / (kNormal95 * kNormal95);
    sum.variance += sum.other_variance;
  }
  for (const auto& [key, count] : view.state.copies.counts()) {
    const auto copy = view.analysis.attribution.copies.find(KindOfCopy(key.first, key.second));
    if (copy == view.analysis.attribution.copies.end()) continue;
    const auto& counter = copy->second.counters[role];
    if (!counter.has_value()) continue;
    sum.value += static_cast<double>(count.copies) * extent.kernel_share * counter->value;
  }
  const double sampled_ns = view.analysis.attribution.sampled_ns[role];
  if (sampled_ns > 0) {
    sum.value += (total->idle + total->unattributed) * extent.time_ns / sampled_ns;
  }
  return sum;
}

void SetBytes(const DeviceView& view, DeviceSummary* summary) {
  const Extent run = RunOf(view);
  const auto read = SumOf(view, run, METRIC_DRAM_READ_BYTES);
  const auto write = SumOf(view, run, METRIC_DRAM_WRITE_BYTES);
  if (!read.has_value() || !write.has_value()) return;
  summary->set_dram_read_bytes(read->value * view.scale);
  summary->set_dram_write_bytes(write->value * view.scale);
  const double variance = read->variance + write->variance;
  if (variance > 0) summary->set_dram_bytes_error(std::sqrt(variance) * view.scale);
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

// Tensor cycles that were counted and make no FLOPs of a kernel.
struct OtherTensorCycles {
  // Given to none: copies, idle, kernels that too few samples met. FLOPs all the same, of the type
  // that the device uses most.
  double unassigned = 0;
  double unassigned_variance = 0;
  // Given to kernels that are not known to do tensor work: spill of those that do, which are FLOPs,
  // and packed arithmetic of their own, which are none (kernel_work.cc).
  double doubtful = 0;
};

OtherTensorCycles OtherTensorCyclesIn(const DeviceView& view, const Extent& extent) {
  const auto counted = SumOf(view, extent, METRIC_TENSOR_ACTIVE);
  OtherTensorCycles other;
  if (!counted.has_value()) return other;
  double assigned = 0;
  for (const KernelRow* row : view.rows) {
    const bool has_flops = std::any_of(row->work.flops.begin(), row->work.flops.end(),
                                       [](const TypedFlops& flops) { return !flops.by_pipe; });
    const auto& cycles = row->work.tensor_active_cycles;
    if (!cycles.has_value()) continue;
    (has_flops ? assigned : other.doubtful) += LaunchesIn(*row, extent) * cycles->value;
  }
  other.doubtful = std::clamp(other.doubtful, 0.0, std::max(0.0, counted->value - assigned));
  other.unassigned = std::max(0.0, counted->value - assigned - other.doubtful);
  other.unassigned_variance = counted->other_variance;
  return other;
}

// FLOPs of what counters saw in an extent, and the time that they need at the peaks of their types.
struct FlopsSum {
  double flops = 0;
  double variance = 0;
  double peak_time_ns = 0;  // of the tensor pipe alone
  double peak_variance = 0;
};

FlopsSum FlopsIn(const DeviceView& view, const Extent& extent) {
  FlopsSum result;
  for (const KernelRow* row : view.rows) {
    const double launches = LaunchesIn(*row, extent);
    for (const TypedFlops& typed : row->work.flops) {
      const double error = launches * typed.error;
      result.flops += launches * typed.flops;
      result.variance += error * error;
      const auto peak = view.analysis.ceilings.FlopsPerSecond(typed.data_type);
      if (typed.by_pipe || !peak.has_value()) continue;
      result.peak_time_ns += launches * typed.flops / *peak * 1e9;
      result.peak_variance += error * error / (*peak * *peak) * 1e18;
    }
  }
  const auto per_cycle = view.analysis.ceilings.FlopsPerCycle(view.analysis.fallback_type);
  const double clock_hz = view.analysis.ceilings.clock_hz;
  if (per_cycle.has_value() && clock_hz > 0) {
    const OtherTensorCycles other = OtherTensorCyclesIn(view, extent);
    const double cycles = other.unassigned + other.doubtful / 2;
    const double error = other.doubtful / 2 / kNormal95;
    const double variance = error * error + other.unassigned_variance;
    result.flops += cycles * *per_cycle;
    result.variance += variance * *per_cycle * *per_cycle;
    result.peak_time_ns += cycles / clock_hz * 1e9;
    result.peak_variance += variance / (clock_hz * clock_hz) * 1e18;
  }
  return result;
}

// Whether counters say what the tensor pipes did in an extent; where none counts them, whether any
// says what other pipes did.
bool FlopsCounted(const DeviceView& view, const Extent& extent, const FlopsSum& sum) {
  if (!view.state.samples.PerSecond(METRIC_TENSOR_ACTIVE).has_value()) return sum.flops > 0;
  return SumOf(view, extent, METRIC_TENSOR_ACTIVE).has_value();
}

void SetFlops(const DeviceView& view, DeviceSummary* summary) {
  const Extent run = RunOf(view);
  const FlopsSum in_run = FlopsIn(view, run);
  const bool run_counted = FlopsCounted(view, run, in_run);
  if (run_counted) {
    summary->set_flops(in_run.flops * view.scale);
    summary->set_flops_error(std::sqrt(in_run.variance) * view.scale);
  }
  const Extent window = WindowOf(view);
  const FlopsSum in_window = FlopsIn(view, window);
  if (window.time_ns <= 0 || !FlopsCounted(view, window, in_window)) return;
  summary->set_flops_per_second(in_window.flops / window.time_ns * 1e9);
  summary->set_hfu(in_window.peak_time_ns / window.time_ns);
  const double of_time = summary->hfu() * view.analysis.part.slowdown_error_ns;
  summary->set_hfu_error(std::hypot(std::sqrt(in_window.peak_variance), of_time) / window.time_ns);
  if (!summary->has_run_window_ns() || !run_counted) return;
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
  double recoverable_ns = 0;
  bool known = false;
  for (const KernelRow* row : view.rows) {
    const auto time_ns = RooflineTimeNs(row->roofline);
    if (!time_ns.has_value() || row->roofline.communication) continue;
    known = true;
    roofline_ns += std::min(*time_ns, row->time_ns);
    attained_ns += std::min(RooflineTimeNs(row->attained).value_or(row->time_ns), row->time_ns);
    recoverable_ns += std::max(0.0, row->time_ns - *time_ns);
  }
  if (!known) return;
  summary->set_roofline_time_ns(roofline_ns);
  summary->set_recoverable_time_ns(recoverable_ns);
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
    summary->set_peak_l2_bytes_per_second(view.state.peaks->l2_bytes_per_cycle() * ceilings.clock_hz);
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
  const auto in_steps =
      steps.has_value() ? totals.PowerBetween(steps->start_ns, steps->end_ns) : std::nullopt;
  const auto power = in_steps.has_value() ? in_steps : totals.power_watts();
  if (power.has_value()) summary->set_power_watts(*power);
  if (const auto value = totals.temperature_max()) summary->set_temperature_celsius_max(*value);
  if (const auto value = totals.memory_used_max()) summary->set_memory_used_bytes_max(*value);
  if (const auto value = totals.busy_share()) summary->set_nvidia_smi_busy_share(*value);
  for (const std::string& limit : totals.ClockLimits()) summary->add_clock_limits(limit);
}

void SetLongestIdle(const ModelState& model, const DeviceState& state, DeviceSummary* summary) {
  const std::optional<IdleStretch> idle = FindLongestIdle(state);
  if (!idle.has_value()) return;
  summary->set_longest_idle_ns(static_cast<double>(idle->end_ns - idle->start_ns));
  if (!model.run_start.has_value()) return;
  // A sampler may have looked before the run began.
  const uint64_t origin_ns = model.run_start->time_ns();
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
  if (!view.state.status.has_value()) return;
  if (!view.state.status->reason().empty()) summary->set_source_reason(view.state.status->reason());
  if (!view.state.status->remedy().empty()) summary->set_source_remedy(view.state.status->remedy());
}

}  // namespace

void SummarizeDevices(const ModelState& model, const Analysis& analysis, Summary* summary) {
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const DeviceState& state = model.devices[i];
    if (!state.used) continue;
    DeviceView view = {.model = model,
                       .state = state,
                       .analysis = analysis.devices[i],
                       .steps = analysis.steady.steps,
                       .rows = {}};
    for (const KernelRow& row : analysis.rows) {
      if (model.kernels[row.kernel].device == i) view.rows.push_back(&row);
    }
    view.scale = ScaleOf(view.rows);
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
    SetLongestIdle(model, state, device);
    SetSource(view, device);
  }
}

}  // namespace utlz
