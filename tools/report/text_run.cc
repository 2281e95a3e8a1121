// The head of the report: what ran, how much of the GPU it used, how good the capture is.
#include <algorithm>
#include <optional>
#include <vector>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/capture_text.h"
#include "tools/report/device_roofs.h"
#include "tools/report/known_value.h"
#include "tools/report/table.h"
#include "tools/report/tensor_rate.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr size_t kBarColumns = 30;
constexpr size_t kFewestBarColumns = 8;
// Of a line of utilization without its bar.
constexpr size_t kLineColumns = 70;
// Name and share.
constexpr size_t kColumnsBeforeBar = 36;
constexpr double kWorthSaying = 0.02;
// Shows as 0.0 %.
constexpr double kUnusedShare = 0.0005;
// A figure whose upper end is so much higher is told as a most.
constexpr double kPlainlyUncertain = 0.2;
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
  if (summary.devices().empty()) return " · no GPU was used";
  std::string text;
  for (const auto& [name, count] : CountDevices(summary)) {
    text += (text.empty() ? " on " : ", ") + std::to_string(count) + " × " +
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

// The upper end of its interval, which is told of the run's FLOPs.
double MostFlopsPerSecond(const DeviceSummary& device) {
  if (!(device.flops() > 0)) return device.flops_per_second();
  return device.flops_per_second() * (1 + kNormal95 * device.flops_error() / device.flops());
}

// Those of all pipes. Where much of them is only known to be at most so many, that is what it says.
// `tensor`: those of HFU, which stand before it; its unit is not said twice.
std::string AllFlopsText(const DeviceSummary& device, const std::string& tensor) {
  const double most = MostFlopsPerSecond(device);
  if (most > (1 + kPlainlyUncertain) * device.flops_per_second()) {
    return "in all <" + PrefixedText(most, "FLOP/s");
  }
  const std::string all = PrefixedText(device.flops_per_second(), "FLOP/s");
  if (all == tensor) return {};
  const size_t unit_at = std::min(all.find(' '), all.size());
  const bool same_unit = !tensor.empty() && tensor.ends_with(all.substr(unit_at));
  return (same_unit ? all.substr(0, unit_at) : all) + " in all";
}

std::string FlopsPerSecondText(const Summary& summary, const DeviceSummary& device) {
  const std::optional<double> tensor_rate = TensorFlopsPerSecond(summary, device);
  const std::string tensor =
      tensor_rate.has_value() ? PrefixedText(tensor_rate, "FLOP/s") : std::string();
  const std::string all = AllFlopsText(device, tensor);
  return tensor + (tensor.empty() || all.empty() ? "" : ", ") + all;
}

std::vector<Line> UtilizationLines(const Summary& summary, const DeviceSummary& device) {
  const bool all_counted = summary.capture().kernel_time_without_counters_share() < kWorthSaying;
  std::string hfu_note;
  if (device.has_hfu_error()) hfu_note = "± " + PercentText(kNormal95 * device.hfu_error());
  // Of other pipes' FLOPs only a most is known: they are no part of HFU.
  const bool elsewhere =
      all_counted && device.hfu() < kUnusedShare && device.flops_per_second() > 0;
  if (elsewhere) {
    hfu_note = "at most " + PrefixedText(MostFlopsPerSecond(device), "FLOP/s") +
               " outside the tensor cores";
  } else if (device.has_flops_per_second()) {
    hfu_note += (hfu_note.empty() ? "" : ", ") + FlopsPerSecondText(summary, device);
  }
  std::string hbm_note;
  if (device.has_dram_bytes_per_second()) {
    hbm_note = BytesText(device.dram_bytes_per_second()) + "/s";
  } else if (device.has_hbm_bandwidth_share()) {
    hbm_note = "as NVML reads it";
  }
  const double all_bytes = device.dram_read_bytes() + device.dram_write_bytes();
  if (device.has_dram_bytes_per_second() && all_bytes > 0 && device.has_dram_bytes_error()) {
    hbm_note = "± " +
               PercentText(kNormal95 * device.dram_bytes_error() / all_bytes *
                           device.hbm_bandwidth_share()) +
               ", " + hbm_note;
  }
  if (device.has_peak_dram_bytes_per_second() && device.has_dram_bytes_per_second()) {
    hbm_note += " of " + BytesText(device.peak_dram_bytes_per_second()) + "/s";
  }
  std::string score;
  if (device.has_efficiency_score()) {
    score = "SMs active " + PercentText(device.efficiency_score()) + " of busy time";
  }
  return {
      {"GPU busy (nvidia-smi)", KnownValue(device.has_gpu_busy_share(), device.gpu_busy_share()),
       "a kernel or copy was active", true},
      {"SM active", KnownValue(device.has_sm_active_share(), device.sm_active_share()), score},
      {"tensor active", KnownValue(device.has_tensor_active_share(), device.tensor_active_share()),
       ""},
      {"HFU (tensor FLOPs)", KnownValue(device.has_hfu(), device.hfu()), hfu_note},
      {"HBM bandwidth", KnownValue(device.has_hbm_bandwidth_share(), device.hbm_bandwidth_share()),
       hbm_note},
  };
}

Style StyleOf(const Line& line) {
  if (line.headline || !line.share.has_value()) return Style::kPlain;
  if (*line.share >= kGoodShare) return Style::kGood;
  return *line.share < kPoorShare ? Style::kBad : Style::kWarning;
}

// On a narrow terminal the bar gives way to the note behind it.
size_t BarColumns(const TextOptions& options) {
  const size_t rest = options.columns > kLineColumns ? options.columns - kLineColumns : 0;
  return std::clamp<size_t>(rest, kFewestBarColumns, kBarColumns);
}

std::string RenderLine(const Line& line, const TextOptions& options) {
  const size_t bar_columns = BarColumns(options);
  const size_t note_columns = line.note.empty() ? 0 : 2 + ColumnsOf(line.note);
  const bool has_room = kColumnsBeforeBar + bar_columns + note_columns <= options.columns;
  std::string text = "  " + line.name;
  text.append(26 - std::min<size_t>(26, ColumnsOf(text)), ' ');
  const std::string share = PercentText(line.share);
  text.append(8 - std::min<size_t>(8, ColumnsOf(share)), ' ');
  text += Styled(share, StyleOf(line), options.color) + "  ";
  const std::string bar = line.share.has_value() ? Bar(*line.share, bar_columns) : std::string();
  text += bar;
  if (!line.note.empty() && has_room) {
    text.append(bar_columns + 2 - std::min<size_t>(bar_columns, ColumnsOf(bar)), ' ');
    text += Styled(line.note, Style::kFaint, options.color);
  } else if (!line.note.empty()) {
    text += "\n" + Styled("      " + line.note, Style::kFaint, options.color);
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "\n";
}

std::string DeviceDetails(const DeviceSummary& device) {
  std::vector<std::string> parts;
  if (device.has_sm_clock_hz()) {
    std::string clock = "SM clock " + PrefixedText(device.sm_clock_hz(), "Hz");
    if (device.has_sm_clock_maximum_hz()) {
      clock += " of " + PrefixedText(device.sm_clock_maximum_hz(), "Hz");
    }
    for (const std::string& limit : device.clock_limits()) clock += ", " + EscapeForTerminal(limit);
    parts.push_back(clock);
  }
  if (device.has_power_watts()) parts.push_back(RatioText(device.power_watts()) + " W");
  if (device.has_memory_used_bytes_max()) {
    parts.push_back("memory at most " + BytesText(device.memory_used_bytes_max()));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "  " : " · ") + part;
  return text;
}

std::string DescribeWholeRun(const DeviceSummary& device) {
  if (!device.has_run_gpu_busy_share()) return {};
  std::string text =
      "  from the first to the last activity: GPU busy " + PercentText(device.run_gpu_busy_share());
  if (device.has_run_hfu()) text += ", HFU " + PercentText(device.run_hfu());
  return text;
}

}  // namespace

std::string Bar(double share, size_t columns) {
  if (!(share > 0)) return {};  // what is no number has no bar either
  const double cells = std::min(share, 1.0) * static_cast<double>(columns);
  std::string bar;
  for (size_t i = 0; i < static_cast<size_t>(cells); ++i) bar += "█";
  if (cells - static_cast<double>(static_cast<size_t>(cells)) >= 0.5) bar += "▌";
  return bar;
}

std::string RenderRun(const Summary& summary, const TextOptions& options) {
  const RunSummary& run = summary.run();
  std::string text;
  if (run.recording()) {
    const std::string note = run.has_recording_note() ? ": " + run.recording_note() : "";
    text += Styled("RECORDING, not measured here" + EscapeForTerminal(note), Style::kWarning,
                   options.color) +
            "\n";
  }
  const std::string command = EscapeForTerminal(Joined(run.command()));
  text += Styled(CutMiddle(command.empty() ? "(unknown command)" : command, options.columns),
                 Style::kHeading, options.color) +
          "\n";
  const auto wall = KnownValue(run.has_wall_ns(), static_cast<double>(run.wall_ns()));
  text += Wrap((wall.has_value() ? "ran " + TimeText(wall) : "ran for an unknown time") +
                   DescribeDevices(summary) + " · " + DescribeEnd(run),
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
  const std::string window = DescribeWindow(summary.steady_state());
  std::string text = window.empty() ? window : Wrap(window, options.columns, 2);
  for (int i = 0; i < summary.devices_size(); ++i) {
    const DeviceSummary& device = summary.devices(i);
    if (summary.devices_size() > 1) {
      text += "GPU " + std::to_string(i) + ": " + EscapeForTerminal(device.name()) + " " +
              EscapeForTerminal(device.uuid()) + "\n";
    }
    for (const Line& line : UtilizationLines(summary, device)) text += RenderLine(line, options);
    for (const std::string& line : {DescribeWholeRun(device), DeviceDetails(device)}) {
      if (line.empty()) continue;
      text += Styled(CutMiddle(line, options.columns), Style::kFaint, options.color) + "\n";
    }
  }
  return text;
}

std::string RenderCapture(const Summary& summary, const TextOptions& options) {
  std::string text = Wrap("Capture: " + DescribeCapture(summary), options.columns, 2);
  for (const std::string& warning : CaptureWarnings(summary)) {
    text += Styled(Wrap("! " + EscapeForTerminal(warning), options.columns, 2), Style::kWarning,
                   options.color);
  }
  return text;
}

}  // namespace utlz
