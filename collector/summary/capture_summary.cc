#include "collector/summary/capture_summary.h"

#include <algorithm>
#include <cmath>

#include "collector/counters/clock_around_work.h"
#include "collector/summary/device_summary.h"
#include "collector/summary/slowdown_summary.h"

namespace utlz {
namespace {

// The run has the worst counter source of its devices.
void SetCounterSource(const Summary& summary, CaptureSummary* capture) {
  const DeviceSummary* lowest = nullptr;
  for (const DeviceSummary& device : summary.devices()) {
    if (lowest == nullptr || device.source() < lowest->source()) lowest = &device;
  }
  if (lowest == nullptr) return;
  capture->set_counter_source(lowest->source());
  if (lowest->has_source_reason()) capture->set_counter_source_reason(lowest->source_reason());
  if (lowest->has_source_remedy()) capture->set_counter_source_remedy(lowest->source_remedy());
}

void SetClocksAroundWork(const RunState& state, Summary* summary) {
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const auto listed = IndexInSummary(state, i, *summary);
    if (!listed.has_value()) continue;
    DeviceSummary* device = summary->mutable_devices(*listed);
    const ClockAroundWork clock = FindClockAroundWork(state.devices[i].totals);
    if (clock.before_hz.has_value()) device->set_sm_clock_before_hz(*clock.before_hz);
    if (clock.after_hz.has_value()) device->set_sm_clock_after_hz(*clock.after_hz);
  }
}

// One process may say any number: a sum that wraps around would hide what the others lost.
uint64_t SumOrMost(uint64_t a, uint64_t b) { return a + std::min(b, UINT64_MAX - a); }

void SetProcesses(const RunState& state, const Summary& summary, CaptureSummary* capture) {
  uint64_t launches = 0;
  uint64_t untimed = 0;
  uint64_t dropped = 0;
  uint64_t records_dropped = 0;
  uint64_t wire_bytes = 0;
  double traced_ns = 0;
  double untraced_ns = 0;
  for (const ProcessSummary& process : summary.processes()) {
    launches = SumOrMost(launches, process.launches());
    untimed = SumOrMost(untimed, process.launches_untimed());
    dropped = SumOrMost(dropped, process.launches_dropped());
    records_dropped = SumOrMost(records_dropped, process.records_dropped_cupti());
    wire_bytes = SumOrMost(wire_bytes, process.wire_bytes());
    if (process.has_lost_at_most_ns()) {
      capture->set_lost_at_most_ns(std::max(capture->lost_at_most_ns(), process.lost_at_most_ns()));
    }
  }
  uint64_t implausible = 0;
  uint64_t copies_implausible = 0;
  for (const auto& [source, process] : state.processes.processes()) {
    implausible += process->launches_implausible;
    copies_implausible += process->copies_implausible;
    if (!process->coverage.known()) continue;
    const uint64_t end_ns = process->LivedUntilNs(state.NewestNs());
    traced_ns += static_cast<double>(process->coverage.TracedNs(end_ns));
    untraced_ns += static_cast<double>(process->coverage.UntracedNs());
  }
  const double known_ns = traced_ns + untraced_ns;
  if (known_ns > 0) capture->set_coverage_share(traced_ns / known_ns);
  capture->set_launches(launches);
  capture->set_launches_untimed(untimed);
  if (implausible > 0) capture->set_launches_implausible(implausible);
  if (copies_implausible > 0) capture->set_copies_implausible(copies_implausible);
  capture->set_launches_dropped(dropped);
  capture->set_records_dropped(records_dropped);
  capture->set_wire_bytes(wire_bytes);
  if (launches > 0) {
    capture->set_wire_bytes_per_launch(static_cast<double>(wire_bytes) /
                                       static_cast<double>(launches));
  }
}

void SetSampling(const RunState& state, const Analysis& analysis, CaptureSummary* capture) {
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t sampled_ns = 0;
  uint64_t untraced = 0;
  uint64_t implausible = 0;
  double sampler_cpu_ns = 0;
  bool any = false;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    if (!device.used) continue;
    const SamplerStatus status = device.status.value_or(SamplerStatus());
    any = any || device.status.has_value() || device.samples.samples() > 0 ||
          device.samples.implausible() > 0;
    samples += device.samples.samples();
    implausible += device.samples.implausible();
    lost +=
        std::max<uint64_t>(device.samples.lost() + device.samples.refused(), status.samples_lost());
    sampled_ns += SampledNs(device);
    sampler_cpu_ns = std::max(sampler_cpu_ns, static_cast<double>(status.sampler_cpu_ns()));
    if (device.sample_interval_ns > 0) capture->set_sample_interval_ns(device.sample_interval_ns);
    const Attribution& attribution = analysis.devices[i].attribution;
    untraced += attribution.untraced_samples;
    if (attribution.shift_dram_ns.has_value()) {
      capture->set_clock_shift_dram_ns(std::llround(*attribution.shift_dram_ns));
    }
    if (attribution.shift_sm_ns.has_value()) {
      capture->set_clock_shift_sm_ns(std::llround(*attribution.shift_sm_ns));
    }
  }
  if (!any) return;
  capture->set_samples(samples);
  capture->set_samples_lost(lost);
  if (untraced > 0) capture->set_samples_untraced(untraced);
  if (implausible > 0) capture->set_samples_implausible(implausible);
  capture->set_sampling_time_ns(sampled_ns);
  if (!state.run_start.has_value() || state.NewestNs() <= state.run_start->time_ns()) return;
  const auto run_ns = static_cast<double>(state.NewestNs() - state.run_start->time_ns());
  if (sampler_cpu_ns > 0) capture->set_sampler_cpu_share(sampler_cpu_ns / run_ns);
}

// Of the device whose steps they are.
void SetStepsSampled(const RunState& state, const Analysis& analysis, CaptureSummary* capture) {
  const std::optional<StepsSpan>& steps = analysis.steady.steps;
  if (!steps.has_value() || capture->samples() == 0) return;
  const double traced_ns = analysis.devices[steps->device].part.TimeNs();
  if (traced_ns <= 0) return;
  const auto sampled = state.devices[steps->device].samples.dram_series().EstimateBetween(
      steps->start_ns, steps->end_ns);
  const double sampled_ns = sampled.has_value() ? sampled->held_ns : 0;
  capture->set_steps_sampled_share(std::min(1.0, sampled_ns / traced_ns));
}

// Of the GPU where it is most.
void SetStalls(const RunState& state, CaptureSummary* capture) {
  double most_ns = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    double stall_ns = 0;
    for (const LongGap& gap : device.ledger.long_gaps()) {
      if (!device.calibration_stalls.Holds(gap)) continue;
      stall_ns += static_cast<double>(gap.end_ns - gap.start_ns);
    }
    most_ns = std::max(most_ns, stall_ns);
  }
  if (most_ns > 0) capture->set_calibration_stall_ns(most_ns);
}

// Of the kernels' time in the steady part, as all shares are; communication moves other devices'
// bytes.
void SetUncounted(const Analysis& analysis, CaptureSummary* capture) {
  const bool sampled = std::any_of(analysis.devices.begin(), analysis.devices.end(),
                                   [](const DeviceAnalysis& device) { return device.sampled; });
  double all_ns = 0;
  double without_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    if (row.roofline.communication) continue;
    all_ns += row.steady_share * row.time_ns;
    if (BoundOf(row.roofline) == BOUND_UNKNOWN) without_ns += row.steady_share * row.time_ns;
  }
  if (sampled && all_ns > 0) {
    capture->set_kernel_time_without_counters_share(without_ns / all_ns);
  }
}

}  // namespace

void SummarizeCapture(const RunState& state, const Analysis& analysis, Summary* summary) {
  CaptureSummary* capture = summary->mutable_capture();
  SetCounterSource(*summary, capture);
  SetClocksAroundWork(state, summary);
  SetProcesses(state, *summary, capture);
  SetSampling(state, analysis, capture);
  SetStepsSampled(state, analysis, capture);
  if (state.run_start.has_value() && state.run_start->overhead_budget_ppm() > 0) {
    capture->set_overhead_budget_share(state.run_start->overhead_budget_ppm() * 1e-6);
  }
  SummarizeSlowdown(state, analysis, capture);
  SetUncounted(analysis, capture);
  capture->set_frames_refused(state.frames_refused);
  if (state.bytes_unreadable > 0) capture->set_bytes_unreadable(state.bytes_unreadable);
  if (state.ranges.ranges() + state.ranges.discarded() > 0) {
    capture->set_ranges(state.ranges.ranges());
    capture->set_ranges_discarded(state.ranges.discarded());
  }
  SetStalls(state, capture);
  uint64_t merged = 0;
  uint64_t withheld = 0;
  for (const KernelSummary& kernel : summary->kernels()) {
    merged += kernel.merged_with_size() > 0 ? 1 : 0;
    withheld += kernel.has_withheld_reason() ? 1 : 0;
  }
  capture->set_kernels_merged(merged);
  capture->set_kernels_withheld(withheld);
}

}  // namespace utlz
