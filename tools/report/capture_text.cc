#include "tools/report/capture_text.h"

#include "collector/capture_trust.h"
#include "collector/text/number_text.h"
#include "collector/text/slowdown_text.h"

namespace utlz {
namespace {

constexpr double kWorthSaying = 0.02;

const char* NameOfSource(CounterSource source) {
  switch (source) {
    case SOURCE_RANGE:
      return "counters of ranges, exact";
    case SOURCE_CALIBRATED:
      return "counters sampled and calibrated";
    case SOURCE_SAMPLED:
      return "counters sampled";
    case SOURCE_GPM:
      return "NVML's device totals; no counters of kernels";
    case SOURCE_FORMULA:
      return "formulas; no counters";
    case SOURCE_TIME_ONLY:
      return "times only; no counters";
    default:
      return "nothing was measured";
  }
}

std::string KernelsText(uint64_t count) {
  return CountText(count) + (count == 1 ? " kernel" : " kernels");
}

// Kernels whose work nobody counted, where they are more than a few.
std::string DescribeUncounted(const Summary& summary) {
  const CaptureSummary& capture = summary.capture();
  if (capture.kernel_time_without_counters_share() < kWorthSaying) return {};
  // The first screen says so, and what to type, or that several processes' kernels ran at once.
  if (summary.has_next_command() || HoldsWorkOfSeveral(summary)) return {};
  std::string text = PercentText(capture.kernel_time_without_counters_share()) +
                     " of the kernel time has no counters";
  // A longer run is recorded for no longer, and so is one that is recorded later.
  if (capture.has_records_ended_after_ns()) {
    return text +
           ": too few counter samples fell in these kernels while kernels were recorded, "
           "for " +
           TimeText(capture.records_ended_after_ns()) +
           ". --later-windows=always or a larger --overhead-budget records for longer.";
  }
  if (2 * capture.samples_untraced() < capture.samples()) {
    return text + ": too few counter samples fell in these kernels; --delay skips start-up.";
  }
  const bool all = capture.samples_untraced() >= capture.samples();
  return text + ": " + (all ? "all" : CountText(capture.samples_untraced()) + " of the") +
         " samples were taken while launches were not traced. A longer run or attachment, or a "
         "larger --overhead-budget, lets more of them meet.";
}

// Tracing slows the host: a GPU that waits for it waits longer.
std::string DescribeSlowdown(const CaptureSummary& capture) {
  constexpr double kWorthSlowdown = 0.05;
  if (capture.steady_state_slowdown_share() < kWorthSlowdown) return {};
  const bool measured = capture.measured_cost_windows() > 0;
  return "Tracing itself took an estimated " + PercentText(capture.steady_state_slowdown_share()) +
         " of the time above, which is in its step times and idle shares; " +
         (measured ? "a longer run would measure it well enough to take it out."
                   : "a run of some ten seconds under an --overhead-budget measures it and takes "
                     "it out.");
}

std::string DescribeEndedRecords(const CaptureSummary& capture) {
  if (!capture.has_records_ended_after_ns()) return {};
  return "Kernels were recorded for " + TimeText(capture.records_ended_after_ns()) +
         " from the start, and what followed was not counted: recording again would have made each "
         "launch an estimated 1 to 7 µs longer until the end, " +
         PercentText(capture.later_windows_cost_share()) +
         " of this program's time. --later-windows=always records on.";
}

// The launches of a program that waits for them.
std::string DescribePresence(const CaptureSummary& capture) {
  const double most = capture.presence_cost_share() + capture.presence_cost_error_share();
  if (!capture.has_overhead_budget_share() || most <= capture.overhead_budget_share() ||
      capture.has_records_ended_after_ns()) {
    return {};
  }
  return "CUPTI's presence alone slowed this program by an estimated " +
         PercentText(capture.presence_cost_share()) + " ± " +
         PercentText(capture.presence_cost_error_share()) +
         ", more than the budget: after kernels are recorded twice, each launch takes an "
         "estimated 1 to 7 µs longer until the process ends. utlz run --later-windows=never avoids "
         "it.";
}

// Of the GPU whose clock under load is lowest.
const DeviceSummary* FindSlowest(const Summary& summary) {
  const DeviceSummary* slowest = nullptr;
  for (const DeviceSummary& device : summary.devices()) {
    if (!device.has_sm_clock_hz()) continue;
    if (slowest == nullptr || device.sm_clock_hz() < slowest->sm_clock_hz()) slowest = &device;
  }
  return slowest;
}

std::string DescribeClocks(const Summary& summary) {
  const DeviceSummary* device = FindSlowest(summary);
  if (device == nullptr) return {};
  std::string text = summary.devices_size() > 1 ? "SM clock of the slowest GPU " : "SM clock ";
  if (device->has_sm_clock_before_hz()) {
    text += PrefixedText(device->sm_clock_before_hz(), "Hz") + " before, ";
  }
  text += PrefixedText(device->sm_clock_hz(), "Hz") + " under load";
  if (device->has_sm_clock_after_hz()) {
    text += ", " + PrefixedText(device->sm_clock_after_hz(), "Hz") + " after";
  }
  return text;
}

}  // namespace

std::string DescribeCapture(const Summary& summary) {
  const CaptureSummary& capture = summary.capture();
  std::string line = NameOfSource(capture.counter_source());
  if (capture.samples() > 0) {
    line += " (" + CountText(capture.samples()) + " samples of " +
            TimeText(static_cast<double>(capture.sample_interval_ns())) + ", " +
            CountText(capture.samples_lost()) + " lost)";
  }
  line += " · " + CountText(capture.launches()) + " launches, " +
          CountText(capture.launches_dropped() + capture.records_dropped()) + " dropped, " +
          CountText(capture.launches_untimed()) + " not timed";
  if (capture.launches_implausible() > 0) {
    line += " (" + CountText(capture.launches_implausible()) + " had times that cannot be true)";
  }
  if (capture.copies_implausible() > 0) {
    line += " · " + CountText(capture.copies_implausible()) +
            " copies left out, their times cannot be true";
  }
  if (capture.has_coverage_share()) {
    line += " · traced " + PercentText(capture.coverage_share()) + " from first to last window";
  }
  if (const std::string clocks = DescribeClocks(summary); !clocks.empty()) line += " · " + clocks;
  if (const std::string slowdown = SlowdownText(capture); !slowdown.empty()) {
    line += " · " + slowdown;
    if (const std::string parts = SlowdownPartsText(capture); !parts.empty()) line += ", " + parts;
  }
  if (capture.has_calibration_stall_ns()) {
    line += " · calibrating held the program up for " + TimeText(capture.calibration_stall_ns()) +
            ", left out of its steps";
  }
  if (capture.has_sampler_cpu_share()) {
    line += " · sampler used " + PercentText(capture.sampler_cpu_share()) + " of one CPU core";
  }
  if (capture.kernels_merged() > 0) {
    line += " · " + KernelsText(capture.kernels_merged()) + " counted together";
  }
  if (capture.kernels_withheld() > 0) {
    line += " · " + KernelsText(capture.kernels_withheld()) +
            (HoldsWorkOfSeveral(summary) ? ": counters not shown" : ": counters too noisy to show");
  }
  if (capture.frames_refused() > 0) {
    line += " · " + CountText(capture.frames_refused()) + " frames refused";
  }
  if (capture.has_bytes_unreadable()) {
    line += " · " + BytesText(static_cast<double>(capture.bytes_unreadable())) + " unreadable";
  }
  if (capture.has_lost_at_most_ns()) {
    line += " · at most " + TimeText(static_cast<double>(capture.lost_at_most_ns())) +
            " lost at the end";
  }
  return line;
}

std::vector<std::string> CaptureWarnings(const Summary& summary) {
  const CaptureSummary& capture = summary.capture();
  std::vector<std::string> warnings;
  for (const std::string& warning : {DescribeUncounted(summary), DescribeSlowdown(capture),
                                     DescribeEndedRecords(capture), DescribePresence(capture)}) {
    if (!warning.empty()) warnings.push_back(warning);
  }
  if (capture.has_counter_source_reason()) {
    std::string reason = "Not better because: " + capture.counter_source_reason();
    if (capture.has_counter_source_remedy())
      reason += " Remedy: " + capture.counter_source_remedy();
    warnings.push_back(reason);
  }
  return warnings;
}

std::string DescribeWindow(const SteadyStateSummary& window) {
  if (window.scope() != "steps") return {};
  // Steps may go on after the last traced one.
  std::string text = "Percentages cover the steps only";
  if (window.has_end_ns() && window.has_start_ns()) {
    text += ", traced from " + TimeText(window.start_ns()) + " to " + TimeText(window.end_ns()) +
            " of the run: " + TimeText(window.time_ns()) + " of it";
  } else {
    text += ": " + TimeText(window.time_ns()) + " traced";
  }
  if (window.pauses() > 0) {
    text += ", without " + CountText(window.pauses()) +
            (window.pauses() == 1 ? " pause of " : " pauses of ") +
            TimeText(window.pause_time_ns());
  }
  return text;
}

}  // namespace utlz
