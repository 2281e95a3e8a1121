// The smaller tables of the text report: copies, idle time, NVTX ranges, GPUs, streams, processes,
// findings, the waterfall.
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"
#include "collector/text/server_figures.h"
#include "collector/text/shown_slice.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/known_value.h"
#include "tools/report/rest_of_losses.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr size_t kSliceNameColumns = 42;
constexpr size_t kSliceBarColumns = 30;
constexpr size_t kStepBarColumns = 11;
constexpr size_t kNarrowBarColumns = 14;
constexpr size_t kWideColumns = 100;
constexpr uint32_t kMostProcesses = 32;

double Double(uint64_t value) { return static_cast<double>(value); }

const char* DescribeStepSource(const std::string& source) {
  if (source == "nvtx") return "NVTX ranges";
  if (source == "kernel") return "the kernel that --step-kernel names";
  return source == "graph" ? "the launches of one graph" : "the repeating launches";
}

// Whose a row is, where there are several GPUs.
std::string OnGpu(const Summary& summary, const std::string& uuid) {
  for (int i = 0; summary.devices_size() > 1 && i < summary.devices_size(); ++i) {
    if (summary.devices(i).uuid() == uuid) return ", GPU " + std::to_string(i);
  }
  return {};
}

}  // namespace

std::string RenderCopies(const Summary& summary, const TextOptions& options) {
  if (summary.copies().empty()) return {};
  Table table(
      {{"copies", 0, true}, {"count", 8}, {"time", 9}, {"exposed", 9}, {"bytes", 9}, {"rate", 11}},
      options.columns);
  for (const CopySummary& copy : summary.copies()) {
    const std::string name = EscapeForTerminal(copy.kind()) +
                             (copy.pageable() ? ", pageable" : "") +
                             OnGpu(summary, copy.device_uuid());
    std::string rate = BytesText(KnownValue(copy.has_bytes_per_second(), copy.bytes_per_second()));
    if (copy.has_bytes_per_second()) rate += "/s";
    table.AddRow({name, CompactCountText(Double(copy.copies())),
                  TimeText(KnownValue(copy.has_time_ns(), Double(copy.time_ns()))),
                  TimeText(KnownValue(copy.has_exposed_ns(), Double(copy.exposed_ns()))),
                  BytesText(KnownValue(copy.has_bytes(), Double(copy.bytes()))), rate});
  }
  return table.Render(options.color);
}

std::string RenderIdle(const Summary& summary, const TextOptions& options) {
  std::string text;
  for (const DeviceSummary& device : summary.devices()) {
    if (!device.has_idle_time_ns() || device.steady_state_ns() == 0) continue;
    text += Wrap(
        "Idle" + OnGpu(summary, device.uuid()) + ": " + TimeText(Double(device.idle_time_ns())) +
            ", " + PercentText(Double(device.idle_time_ns()) / Double(device.steady_state_ns())) +
            " of " + TimeText(Double(device.steady_state_ns())) +
            (summary.steady_state().scope() == "steps" ? " in the steps"
                                                       : " from the first to the last activity"),
        options.columns, 2);
  }
  return text;
}

// "168 µs ± 11 µs"
std::string SlowdownText(const StepsSummary& steps) {
  return TimeText(steps.slowdown_time_ns()) + " ± " +
         TimeText(kNormal95 * steps.slowdown_error_ns());
}

// What utlz did to steps is no news of the program.
std::string HeldUpText(const StepsSummary& steps) {
  const double time_ns =
      std::accumulate(steps.held_up_time_ns().begin(), steps.held_up_time_ns().end(), 0.0);
  return "utlz itself delayed " + CountText(static_cast<uint64_t>(steps.held_up_size())) +
         (steps.held_up_size() == 1 ? " step" : " steps") + " by " + TimeText(time_ns) +
         ", which is left out: at step " + std::to_string(steps.held_up(0)) + " " +
         EscapeForTerminal(steps.held_up_reason(0));
}

// Pauses make no step slow; where the longest was is worth knowing all the same. Of a run of very
// many steps not all are listed.
std::string LongestPauseText(const StepsSummary& steps) {
  const auto& times = steps.time_ns();
  if (steps.pause_time_ns() <= 0 || times.empty() ||
      static_cast<uint64_t>(times.size()) < steps.steps()) {
    return {};
  }
  const auto warmup = static_cast<std::ptrdiff_t>(steps.warmup_steps());
  if (warmup >= times.size()) return {};
  const auto longest = std::max_element(times.begin() + warmup, times.end());
  return "; the longest pause is in step " + std::to_string(longest - times.begin());
}

std::string RenderSteps(const Summary& summary, const TextOptions& options) {
  const StepsSummary& steps = summary.steps();
  if (steps.steps() == 0) return {};
  std::string text = "Traced steps: " + CountText(steps.steps() - steps.warmup_steps());
  if (steps.warmup_steps() > 0) {
    text += " (+ " + CountText(steps.warmup_steps()) + " warm-up";
    if (steps.has_warmup_time_ns()) text += ", " + TimeText(steps.warmup_time_ns());
    text += ")";
  }
  text += std::string(steps.pause_time_ns() > 0 ? ": mean between pauses " : ": mean ") +
          TimeText(KnownValue(steps.has_time_mean_ns(), steps.time_mean_ns())) + ", median " +
          TimeText(KnownValue(steps.has_time_p50_ns(), steps.time_p50_ns())) + ", p99 " +
          TimeText(KnownValue(steps.has_time_p99_ns(), steps.time_p99_ns()));
  if (steps.pause_time_ns() > 0) text += " with pauses";
  if (steps.slowdown_time_ns() > 0) {
    text += ", less the " + SlowdownText(steps) + " that tracing added to traced ones";
  }
  if (steps.has_launches()) {
    text += "; " + CompactCountText(steps.launches()) + " kernels per step";
  }
  text += std::string(" (steps found by ") + DescribeStepSource(steps.source()) + ")";
  text += LongestPauseText(steps);
  if (steps.held_up_size() > 0) text += "; " + HeldUpText(steps);
  if (steps.slow_size() > 0) {
    text += "; " + std::to_string(steps.slow_size()) +
            (steps.slow_size() == 1 ? " slow step; step " : " slow steps; step ") +
            std::to_string(steps.slow(0));
    if (steps.slow_reason_size() > 0) text += ": " + EscapeForTerminal(steps.slow_reason(0));
  }
  return Wrap(text, options.columns, 2);
}

// A slice behind its name. On a narrow terminal its time in the run and the bars are left out.
std::string SliceFigures(const WaterfallSlice& slice, bool steps, size_t columns) {
  const bool wide = columns >= kWideColumns;
  std::string line = RightAligned(PercentText(slice.share()), 8);
  if (wide || !steps) line += RightAligned(TimeText(slice.time_ns()), 11);
  if (!steps) {
    const size_t bar = wide ? kSliceBarColumns : kNarrowBarColumns;
    line += "  " + Bar(slice.share(), bar);
  } else if (slice.has_time_per_step_ns()) {
    line += RightAligned(PercentText(slice.steady_state_share()), 14) +
            RightAligned(TimeText(slice.time_per_step_ns()), 10);
    if (wide) line += "  " + Bar(slice.steady_state_share(), kStepBarColumns);
  }
  return line;
}

// Where there are steps, slices that lie in them have their share of the steps, and bars of it:
// what was not traced and start-up would dwarf them.
std::string RenderWaterfall(const Summary& summary, const TextOptions& options) {
  if (summary.waterfall().slices().empty()) return {};
  const bool steps = summary.steady_state().scope() == "steps";
  std::string title = "Where GPU time goes";
  if (steps) {
    title.append(kSliceNameColumns + 2 - title.size(), ' ');
    title += options.columns >= kWideColumns ? RightAligned("of the run", 19)
                                             : RightAligned("of run", 8);
    title += RightAligned("of the steps", 14) + RightAligned("a step", 10);
  }
  std::string text = Styled(title, Style::kFaint, options.color) + "\n";
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    std::string line =
        "  " + CutMiddle(EscapeForTerminal(ShownSlice(slice.name())), kSliceNameColumns - 2);
    line.append(kSliceNameColumns + 2 - ColumnsOf(line), ' ');
    line += SliceFigures(slice, steps, options.columns);
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string RenderApplication(const Summary& summary, const TextOptions& options) {
  if (!summary.has_application()) return {};
  std::string text = "Server (" + EscapeForTerminal(ServerTitle(summary.application())) + ")";
  const char* separator = ": ";
  for (const std::string& figure : ServerFigures(summary.application())) {
    text += separator + figure;
    separator = " · ";
  }
  return Wrap(text, options.columns, 2);
}

std::string RenderAlerts(const Summary& summary, const TextOptions& options) {
  std::string text;
  for (const AlertSummary& alert : summary.alerts()) {
    std::string line = "Alert: " + EscapeForTerminal(alert.text());
    if (summary.devices_size() > 1 && alert.has_device_uuid()) {
      line += " (" + EscapeForTerminal(alert.device_uuid()) + ")";
    }
    text += Styled(Wrap(line, options.columns, 2), Style::kWarning, options.color);
  }
  return text;
}

namespace {

std::string GainText(const FindingSummary& finding) {
  if (!finding.has_gain_ns()) return {};
  std::string text = " (up to ";
  text += finding.has_gain_per_step_ns() ? TimeText(finding.gain_per_step_ns()) + " a step"
                                         : TimeText(finding.gain_ns());
  text += ", " + PercentText(finding.gain_share());
  if (finding.has_gain_per_month()) {
    text += ", " + RoundCountText(finding.gain_per_month()) + " a month at this price";
  }
  return text + ")";
}

std::string RenderFinding(int number, const FindingSummary& finding, const TextOptions& options) {
  const std::string head =
      std::to_string(number) + ". " + EscapeForTerminal(finding.title()) + GainText(finding);
  std::string text = Styled(Wrap(head, options.columns, 3), Style::kHeading, options.color) +
                     Wrap(EscapeForTerminal(finding.evidence()), options.columns, 3, 3) +
                     Wrap("Try: " + EscapeForTerminal(finding.advice()), options.columns, 3, 3);
  if (finding.has_type_this()) {
    text += Wrap("Type: " + EscapeForTerminal(finding.type_this()), options.columns, 3, 3);
  }
  return text;
}

}  // namespace

// Losses below the threshold of their rule stand in one paragraph: each alone would change little.
// Those that are not small all the same stand in one before it.
// Where there is no other, the largest of them still says what to type.
std::string RenderFindings(const Summary& summary, const TextOptions& options) {
  std::string text;
  std::string small, limits, rest;
  int number = 0;
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() == kRuleOfTheRest) {
      rest = EscapeForTerminal(finding.title()) + GainText(finding) + ".";
      continue;
    }
    if (!finding.below_threshold() || number == 0) {
      text += RenderFinding(++number, finding, options);
      continue;
    }
    const std::string& title = finding.has_title_short() ? finding.title_short() : finding.title();
    std::string& list = IsSmall(finding) ? small : limits;
    list += (list.empty() ? "" : "; ") + EscapeForTerminal(title) + GainText(finding);
  }
  if (!limits.empty()) {
    text += Wrap("Not small, but seldom the first thing to change: " + limits, options.columns, 2);
  }
  if (!small.empty()) text += Wrap("Each of these alone is small: " + small, options.columns, 2);
  if (!rest.empty()) text += Wrap(rest, options.columns, 2);
  return text;
}

std::string RenderMarkers(const Summary& summary, const TextOptions& options) {
  if (summary.nvtx().empty())
    return "No NVTX ranges were recorded: run with --nvtx to record them.\n";
  Table table({{"NVTX range", 0, true},
               {"count", 8},
               {"time", 9},
               {"kernels", 9},
               {"launches", 9},
               {"FLOPs", 6},
               {"DRAM", 8}},
              options.columns);
  std::vector<const MarkerSummary*> markers;
  for (const MarkerSummary& marker : summary.nvtx()) markers.push_back(&marker);
  std::stable_sort(markers.begin(), markers.end(),
                   [](const auto* a, const auto* b) { return a->time_ns() > b->time_ns(); });
  for (size_t i = 0; i < std::min<size_t>(options.top, markers.size()); ++i) {
    const MarkerSummary& marker = *markers[i];
    const std::string domain =
        marker.domain().empty() ? "" : EscapeForTerminal(marker.domain()) + ": ";
    table.AddRow(
        {domain + EscapeForTerminal(marker.name()), CompactCountText(Double(marker.count())),
         TimeText(Double(marker.time_ns())),
         TimeText(KnownValue(marker.has_kernel_time_ns(), Double(marker.kernel_time_ns()))),
         CompactCountText(KnownValue(marker.has_launches(), Double(marker.launches()))),
         CompactCountText(KnownValue(marker.has_flops(), marker.flops())),
         BytesText(KnownValue(marker.has_dram_bytes(), marker.dram_bytes()))});
  }
  return table.Render(options.color);
}

std::string RenderDevices(const Summary& summary, const TextOptions& options) {
  if (summary.devices().empty()) return "No GPU was used.\n";
  Table table({{"GPU", 0, true},
               {"busy", 7},
               {"SMs", 7},
               {"HBM", 7},
               {"HFU", 7},
               {"FLOPs", 6},
               {"DRAM", 8},
               {"clock", 9},
               {"power", 7},
               {"recover", 8}},
              options.columns);
  for (int i = 0; i < summary.devices_size(); ++i) {
    const DeviceSummary& device = summary.devices(i);
    const bool bytes_known = device.has_dram_read_bytes() && device.has_dram_write_bytes();
    table.AddRow(
        {std::to_string(i) + ": " + EscapeForTerminal(device.name()),
         PercentText(KnownValue(device.has_gpu_busy_share(), device.gpu_busy_share())),
         PercentText(KnownValue(device.has_sm_active_share(), device.sm_active_share())),
         PercentText(KnownValue(device.has_hbm_bandwidth_share(), device.hbm_bandwidth_share())),
         PercentText(KnownValue(device.has_hfu(), device.hfu())),
         CompactText(KnownValue(device.has_flops(), device.flops())),
         BytesText(KnownValue(bytes_known, device.dram_read_bytes() + device.dram_write_bytes())),
         PrefixedText(KnownValue(device.has_sm_clock_hz(), device.sm_clock_hz()), "Hz"),
         PrefixedText(KnownValue(device.has_power_watts(), device.power_watts()), "W"),
         TimeText(KnownValue(device.has_estimated_savings_ns(), device.estimated_savings_ns()))});
  }
  return table.Render(options.color);
}

std::string RenderStreams(const Summary& summary, const TextOptions& options) {
  if (summary.streams().empty()) return "No kernels were recorded, and so no streams.\n";
  Table table({{"stream", 0, true}, {"launches", 9}, {"kernels", 9}}, options.columns);
  for (int i = 0; i < std::min<int>(static_cast<int>(options.top), summary.streams_size()); ++i) {
    const StreamSummary& stream = summary.streams(i);
    table.AddRow(
        {"process " + std::to_string(stream.pid()) + ", context " +
             std::to_string(stream.context()) + ", stream " + std::to_string(stream.stream()),
         CompactCountText(Double(stream.launches())), TimeText(Double(stream.kernel_time_ns()))});
  }
  return table.Render(options.color);
}

std::string RenderProcesses(const Summary& summary, const TextOptions& options) {
  Table table({{"process", 0, true},
               {"pid", 9},
               {"rank", 5},
               {"launches", 9},
               {"kernels", 9},
               {"cost", 7},
               {"end", 9}},
              options.columns);
  std::vector<const ProcessSummary*> processes;
  for (const ProcessSummary& process : summary.processes()) processes.push_back(&process);
  const size_t shown =
      options.group_by == GroupBy::kProcess
          ? processes.size()
          : std::min<size_t>(processes.size(), std::max(kMostProcesses, options.top));
  // Workers that come and go by the hundred: those that do most.
  if (shown < processes.size()) {
    std::stable_sort(processes.begin(), processes.end(), [](const auto* a, const auto* b) {
      return a->kernel_time_ns() > b->kernel_time_ns();
    });
  }
  for (size_t i = 0; i < shown; ++i) {
    const ProcessSummary& process = *processes[i];
    table.AddRow(
        {EscapeForTerminal(process.command()), std::to_string(process.pid()),
         process.has_rank() ? std::to_string(process.rank()) : std::string(kUnknown),
         CompactCountText(Double(process.launches())),
         TimeText(KnownValue(process.has_kernel_time_ns(), Double(process.kernel_time_ns()))),
         PercentText(KnownValue(process.has_agent_cost_share(), process.agent_cost_share())),
         CutMiddle(EscapeForTerminal(process.end()), 9)});
  }
  if (shown == processes.size()) return table.Render(options.color);
  double launches = 0;
  double kernel_time_ns = 0;
  for (size_t i = shown; i < processes.size(); ++i) {
    launches += Double(processes[i]->launches());
    kernel_time_ns += Double(processes[i]->kernel_time_ns());
  }
  table.AddRow({"… and " + std::to_string(processes.size() - shown) + " more: --by process", "", "",
                CompactCountText(launches), TimeText(kernel_time_ns), "", ""});
  return table.Render(options.color);
}

}  // namespace utlz
