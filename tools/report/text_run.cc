// The head of the report: what ran, how much of the GPU it used, how good the capture is.
#include <algorithm>
#include <optional>
#include <vector>

#include "collector/normal_interval.h"
#include "tools/report/device_roofs.h"
#include "tools/report/escape.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"
#include "tools/report/units.h"

namespace utlz {
namespace {

constexpr size_t kBarColumns = 30;
constexpr double kWorthSaying = 0.02;
// Shows as 0.0 %.
constexpr double kUnusedShare = 0.0005;
// Below these shares of what nvidia-smi shows, the difference deserves a colour.
constexpr double kGoodShare = 0.6;
constexpr double kPoorShare = 0.3;

template <typename List>
std::string Joined(const List& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : " ") + item;
  return text;
}

std::string DescribeDevices(const Summary& summary) {
  if (summary.devices().empty()) return "no GPU was used";
  std::string text;
  for (const auto& [name, count] : CountDevices(summary)) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " × " +
            (name.empty() ? "unknown GPU" : EscapeForTerminal(name));
  }
  return text;
}

std::string DescribeEnd(const RunSummary& run) {
  if (run.has_signal()) return "ended by signal " + std::to_string(run.signal());
  if (run.has_exit_status()) return "exit status " + std::to_string(run.exit_status());
  return run.finished() ? "ended" : "not ended (or its end was not recorded)";
}

struct Line {
  std::string name;
  std::optional<double> share;
  std::string note;
  bool headline = false;
};

std::optional<double> Optional(bool known, double value) {
  return known ? std::make_optional(value) : std::nullopt;
}

// The upper end of its interval, which is told of the run's FLOPs.
double MostFlopsPerSecond(const DeviceSummary& device) {
  if (!(device.flops() > 0)) return device.flops_per_second();
  return device.flops_per_second() * (1 + kNormal95 * device.flops_error() / device.flops());
}

std::vector<Line> UtilizationLines(const DeviceSummary& device, bool all_counted) {
  std::string hfu_note;
  if (device.has_hfu_error()) hfu_note = "± " + FormatShare(device.hfu_error());
  // Of other pipes' FLOPs only a most is known: they are no part of HFU.
  const bool elsewhere =
      all_counted && device.hfu() < kUnusedShare && device.flops_per_second() > 0;
  if (elsewhere) {
    hfu_note = "at most " + FormatRateIn(MostFlopsPerSecond(device), "FLOP/s") +
               " outside the tensor cores";
  } else if (device.has_flops_per_second()) {
    hfu_note += (hfu_note.empty() ? "" : ", ") + FormatRateIn(device.flops_per_second(), "FLOP/s");
  }
  std::string hbm_note;
  if (device.has_dram_bytes_per_second()) {
    hbm_note = FormatBytes(device.dram_bytes_per_second()) + "/s";
  }
  if (device.has_peak_dram_bytes_per_second() && !hbm_note.empty()) {
    hbm_note += " of " + FormatBytes(device.peak_dram_bytes_per_second()) + "/s";
  }
  std::string score;
  if (device.has_efficiency_score()) {
    score = "efficiency score " + FormatShare(device.efficiency_score()) + " of busy";
  }
  return {
      {"GPU busy (nvidia-smi)", Optional(device.has_gpu_busy_share(), device.gpu_busy_share()),
       "something ran, however little", true},
      {"SM active", Optional(device.has_sm_active_share(), device.sm_active_share()), score},
      {"tensor active", Optional(device.has_tensor_active_share(), device.tensor_active_share()), ""},
      {"HFU (FLOPs ÷ peak)", Optional(device.has_hfu(), device.hfu()), hfu_note},
      {"HBM bandwidth", Optional(device.has_hbm_bandwidth_share(), device.hbm_bandwidth_share()),
       hbm_note},
  };
}

Style StyleOf(const Line& line) {
  if (line.headline || !line.share.has_value()) return Style::kPlain;
  if (*line.share >= kGoodShare) return Style::kGood;
  return *line.share < kPoorShare ? Style::kBad : Style::kWarning;
}

std::string RenderLine(const Line& line, const TextOptions& options) {
  std::string text = "  " + line.name;
  text.append(26 - std::min<size_t>(26, ColumnsOf(text)), ' ');
  const std::string share = FormatShare(line.share);
  text.append(8 - std::min<size_t>(8, ColumnsOf(share)), ' ');
  text += Styled(share, StyleOf(line), options.color) + "  ";
  const std::string bar = line.share.has_value() ? Bar(*line.share, kBarColumns) : std::string();
  text += bar;
  if (!line.note.empty()) {
    text.append(kBarColumns + 2 - std::min<size_t>(kBarColumns, ColumnsOf(bar)), ' ');
    text += Styled(line.note, Style::kFaint, options.color);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "\n";
}

std::string DeviceDetails(const DeviceSummary& device) {
  std::vector<std::string> parts;
  if (device.has_sm_clock_hz()) {
    std::string clock = "SM clock " + FormatRateIn(device.sm_clock_hz(), "Hz");
    if (device.has_sm_clock_maximum_hz()) {
      clock += " of " + FormatRateIn(device.sm_clock_maximum_hz(), "Hz");
    }
    for (const std::string& limit : device.clock_limits()) clock += ", " + EscapeForTerminal(limit);
    parts.push_back(clock);
  }
  if (device.has_power_watts()) parts.push_back(FormatRatio(device.power_watts()) + " W");
  if (device.has_memory_used_bytes_max()) {
    parts.push_back("memory at most " + FormatBytes(device.memory_used_bytes_max()));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "  " : " · ") + part;
  return text;
}

// What part of the run the shares are of, where that is not all of it.
std::string DescribeWindow(const Summary& summary) {
  const WindowSummary& window = summary.window();
  if (window.of() != "steps") return {};
  std::string text = "Shares and findings are of the steps: " + FormatTime(window.time_ns());
  if (window.has_end_ns() && window.has_start_ns()) {
    text += " of the time from " + FormatTime(window.start_ns()) + " to " +
            FormatTime(window.end_ns()) + " of the run";
  }
  if (window.pauses() > 0) {
    text += ", without " + FormatGrouped(window.pauses()) +
            (window.pauses() == 1 ? " pause of " : " pauses of ") +
            FormatTime(window.pause_time_ns());
  }
  return text;
}

std::string DescribeWholeRun(const DeviceSummary& device) {
  if (!device.has_run_gpu_busy_share()) return {};
  std::string text =
      "  from the first to the last activity: GPU busy " + FormatShare(device.run_gpu_busy_share());
  if (device.has_run_hfu()) text += ", HFU " + FormatShare(device.run_hfu());
  return text;
}

const char* NameOfRung(CounterSource source) {
  switch (source) {
    case SOURCE_RANGE: return "counters of ranges, exact";
    case SOURCE_CALIBRATED: return "counters sampled and calibrated";
    case SOURCE_SAMPLED: return "counters sampled";
    case SOURCE_GPM: return "NVML's device totals; no counters of kernels";
    case SOURCE_FORMULA: return "formulas; no counters";
    case SOURCE_TIME_ONLY: return "times only; no counters";
    default: return "nothing was measured";
  }
}

// So wide an interval says less than the estimate from what a launch was seen to cost.
bool MeasuredWell(const CaptureSummary& capture) {
  constexpr double kWidestError = 0.01;
  return capture.has_measured_cost_share() && capture.measured_cost_error_share() <= kWidestError;
}

// Kernels whose work nobody counted, where they are more than a few.
std::string DescribeUncounted(const CaptureSummary& capture) {
  if (capture.kernel_time_without_counters_share() < kWorthSaying) return {};
  std::string text = "! " + FormatShare(capture.kernel_time_without_counters_share()) +
                     " of the kernel time has no counters";
  if (2 * capture.samples_untraced() < capture.samples()) {
    return text + ": too few samples met those kernels.";
  }
  const bool all = capture.samples_untraced() >= capture.samples();
  return text + ": " + (all ? "all" : FormatGrouped(capture.samples_untraced()) + " of the") +
         " samples were taken while launches were not traced. A longer run or visit, or a larger "
         "--overhead-budget, lets more of them meet.";
}

// Tracing slows the host: a GPU that waits for it waits longer.
std::string DescribeSlowdown(const CaptureSummary& capture) {
  constexpr double kWorthSlowdown = 0.05;
  if (capture.window_slowdown_share() < kWorthSlowdown) return {};
  const bool measured = capture.measured_cost_windows() > 0;
  return "! Tracing itself took an estimated " + FormatShare(capture.window_slowdown_share()) +
         " of the time above, which is in its step times and idle shares; " +
         (measured ? "a longer run would measure it well enough to take it out."
                   : "a run of some ten seconds under an --overhead-budget measures it and takes "
                     "it out.");
}

}  // namespace

std::string Bar(double share, size_t columns) {
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  std::string bar;
  for (size_t i = 0; i < static_cast<size_t>(cells); ++i) bar += "█";
  if (cells - static_cast<double>(static_cast<size_t>(cells)) >= 0.5) bar += "▌";
  return bar;
}

std::string Wrap(const std::string& text, size_t columns, size_t indent, size_t first) {
  std::string wrapped;
  std::string line(first, ' ');
  bool has_word = false;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = CutMiddle(text.substr(begin, end - begin), columns - indent);
    begin = end + 1;
    if (has_word && ColumnsOf(line) + 1 + ColumnsOf(word) > columns) {
      wrapped += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (has_word ? " " : "") + word;
    }
    has_word = true;
  }
  return wrapped + line + "\n";
}

std::string RenderRun(const Summary& summary, const TextOptions& options) {
  const RunSummary& run = summary.run();
  std::string text;
  if (run.recording()) {
    const std::string note = run.has_recording_note() ? ": " + run.recording_note() : "";
    text += Styled("RECORDING, not measured here" + EscapeForTerminal(note), Style::kWarning,
                   options.color) + "\n";
  }
  const std::string command = EscapeForTerminal(Joined(run.command()));
  text += Styled(CutMiddle(command.empty() ? "(unknown command)" : command, options.columns),
                 Style::kHeading, options.color) + "\n";
  const auto wall = Optional(run.has_wall_ns(), static_cast<double>(run.wall_ns()));
  text += Wrap("ran " + FormatTime(wall) + " on " + DescribeDevices(summary) + " · " +
                   DescribeEnd(run),
               options.columns, 2);
  for (const std::string& notice : run.notices()) {
    text += Styled(Wrap("! " + EscapeForTerminal(notice), options.columns, 2), Style::kWarning,
                   options.color);
  }
  if (summary.has_verdict()) {
    text += Styled(Wrap(EscapeForTerminal(summary.verdict()), options.columns, 2), Style::kHeading,
                   options.color);
  }
  return text;
}

std::string RenderUtilization(const Summary& summary, const TextOptions& options) {
  const std::string window = DescribeWindow(summary);
  std::string text = window.empty() ? window : Wrap(window, options.columns, 2);
  // Numbers that the kernel table and the roofline go by.
  const bool numbered = !AllShareRoof(summary);
  const bool all_counted = summary.capture().kernel_time_without_counters_share() < kWorthSaying;
  for (int i = 0; i < summary.devices_size(); ++i) {
    const DeviceSummary& device = summary.devices(i);
    if (numbered) text += "GPU " + std::to_string(i) + ": ";
    if (summary.devices_size() > 1) {
      text += EscapeForTerminal(device.name()) + " " + EscapeForTerminal(device.uuid()) + "\n";
    }
    for (const Line& line : UtilizationLines(device, all_counted)) text += RenderLine(line, options);
    for (const std::string& line : {DescribeWholeRun(device), DeviceDetails(device)}) {
      if (line.empty()) continue;
      text += Styled(CutMiddle(line, options.columns), Style::kFaint, options.color) + "\n";
    }
  }
  return text;
}

std::string RenderCapture(const Summary& summary, const TextOptions& options) {
  const CaptureSummary& capture = summary.capture();
  std::string line = std::string("Capture: ") + NameOfRung(capture.rung());
  if (capture.samples() > 0) {
    line += " (" + FormatGrouped(capture.samples()) + " samples of " +
            FormatTime(static_cast<double>(capture.sample_interval_ns())) + ", " +
            FormatGrouped(capture.samples_lost()) + " lost)";
  }
  line += " · " + FormatGrouped(capture.launches()) + " launches, " +
          FormatGrouped(capture.launches_dropped() + capture.records_dropped()) + " dropped, " +
          FormatGrouped(capture.launches_timeless()) + " without times";
  if (capture.launches_implausible() > 0) {
    line +=
        " (" + FormatGrouped(capture.launches_implausible()) + " had times that cannot be true)";
  }
  if (capture.has_coverage_share()) line += " · coverage " + FormatShare(capture.coverage_share());
  if (MeasuredWell(capture)) {
    line += " · cost measured " + FormatShare(std::max(0.0, capture.measured_cost_share())) +
            " ± " + FormatShare(capture.measured_cost_error_share());
  } else if (capture.has_cost_share()) {
    line += " · cost about " + FormatShare(capture.cost_share());
  }
  if ((MeasuredWell(capture) || capture.has_cost_share()) && capture.has_overhead_budget_share()) {
    line += ", of " + FormatShare(capture.overhead_budget_share()) + " allowed";
  }
  if (capture.has_sampler_cpu_share()) {
    line += " · sampler " + FormatShare(capture.sampler_cpu_share()) + " of a core";
  }
  if (capture.frames_refused() > 0) {
    line += " · " + FormatGrouped(capture.frames_refused()) + " frames refused";
  }
  if (capture.has_bytes_unreadable()) {
    line += " · " + FormatBytes(static_cast<double>(capture.bytes_unreadable())) + " unreadable";
  }
  if (capture.has_lost_at_most_ns()) {
    line += " · at most " + FormatTime(static_cast<double>(capture.lost_at_most_ns())) + " lost at the end";
  }
  std::string text = Wrap(line, options.columns, 2);
  const std::string uncounted = DescribeUncounted(capture);
  if (!uncounted.empty()) {
    text += Styled(Wrap(uncounted, options.columns, 2), Style::kWarning, options.color);
  }
  const std::string slowdown = DescribeSlowdown(capture);
  if (!slowdown.empty()) {
    text += Styled(Wrap(slowdown, options.columns, 2), Style::kWarning, options.color);
  }
  if (capture.has_rung_reason()) {
    std::string reason = "Not better because: " + EscapeForTerminal(capture.rung_reason());
    if (capture.has_rung_remedy()) reason += " Remedy: " + EscapeForTerminal(capture.rung_remedy());
    text += Styled(Wrap(reason, options.columns, 2), Style::kWarning, options.color);
  }
  return text;
}

}  // namespace utlz
