#include "tools/report/markdown.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "collector/text/bound_text.h"
#include "collector/text/number_text.h"
#include "collector/text/server_figures.h"
#include "collector/text/shown_slice.h"
#include "collector/text/shown_text.h"
#include "tools/report/capture_text.h"
#include "tools/report/device_roofs.h"
#include "tools/report/kernels_of_steps.h"
#include "tools/report/known_value.h"
#include "tools/report/markdown_first_screen.h"
#include "tools/report/rest_of_losses.h"

namespace utlz {
namespace {

constexpr size_t kNameWidth = 80;
constexpr size_t kSentenceWidth = 1000;
constexpr int kBarCells = 20;

std::string Sentence(const std::string& text) { return MarkdownName(text, kSentenceWidth); }

std::string Code(const std::string& text) {
  return "<code>" + MarkdownName(text, kNameWidth) + "</code>";
}

std::string Folded(const std::string& title, const std::string& body) {
  if (body.empty()) return {};
  return "\n<details><summary>" + title + "</summary>\n\n" + body + "\n</details>\n";
}

std::string CommandLine(const RunSummary& run) {
  std::string command;
  for (const std::string& word : run.command()) command += (command.empty() ? "" : " ") + word;
  return command;
}

// " on 2 × NVIDIA H200", or that there was none.
std::string OnDevices(const Summary& summary) {
  if (summary.devices().empty()) return "; no GPU was used";
  std::string text;
  for (const auto& [name, count] : CountDevices(summary)) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " × " + Sentence(name);
  }
  return " on " + text;
}

std::string Head(const Summary& summary) {
  const RunSummary& run = summary.run();
  std::string text =
      "**" + Sentence(summary.has_verdict() ? summary.verdict() : "No verdict") + "**\n\n";
  text += Code(CommandLine(run)) + ", " +
          TimeText(KnownValue(run.has_wall_ns(), static_cast<double>(run.wall_ns()))) +
          OnDevices(summary) + "\n";
  if (run.recording()) {
    text += "\nA recording, not measured here: " + Sentence(run.recording_note()) + "\n";
  }
  for (const std::string& notice : run.notices()) text += "\n> " + Sentence(notice) + "\n";
  return text;
}

std::string Figures(const Summary& summary) {
  std::string titles = "\n| GPU |", line = "|---|", rows;
  struct Figure {
    const char* title;
    std::optional<double> (*read)(const DeviceSummary&);
  };
  static constexpr Figure kFigures[] = {
      {"busy (nvidia-smi)",
       [](const DeviceSummary& device) {
         return KnownValue(device.has_gpu_busy_share(), device.gpu_busy_share());
       }},
      {"SM active",
       [](const DeviceSummary& device) {
         return KnownValue(device.has_sm_active_share(), device.sm_active_share());
       }},
      {"tensor active",
       [](const DeviceSummary& device) {
         return KnownValue(device.has_tensor_active_share(), device.tensor_active_share());
       }},
      {"HFU",
       [](const DeviceSummary& device) { return KnownValue(device.has_hfu(), device.hfu()); }},
      {"HBM bandwidth",
       [](const DeviceSummary& device) {
         return KnownValue(device.has_hbm_bandwidth_share(), device.hbm_bandwidth_share());
       }},
  };
  for (const Figure& figure : kFigures) {
    titles += std::string(" ") + figure.title + " |";
    line += "---:|";
  }
  // Numbers that the kernel table goes by.
  const bool numbered = !AllShareRoof(summary);
  int number = 0;
  for (const DeviceSummary& device : summary.devices()) {
    rows += "| " + (numbered ? std::to_string(number++) + ": " : "") +
            MarkdownName(device.name(), kNameWidth) + " |";
    for (const Figure& figure : kFigures) rows += " " + PercentText(figure.read(device)) + " |";
    rows += "\n";
  }
  if (rows.empty()) return {};
  const std::string window = DescribeWindow(summary.steady_state());
  return titles + "\n" + line + "\n" + rows +
         (window.empty() ? "" : "\n" + Sentence(window) + ".\n");
}

std::string Yield(const Summary& summary) {
  const EfficiencySummary& efficiency = summary.efficiency();
  std::string text;
  if (efficiency.has_mfu()) text += "MFU " + PrecisePercentText(efficiency.mfu());
  if (efficiency.has_tokens_per_second()) {
    text +=
        (text.empty() ? "" : ", ") + CompactCountText(efficiency.tokens_per_second()) + " tokens/s";
  }
  return text.empty() ? text : "\n" + text + ".\n";
}

std::string Server(const Summary& summary) {
  if (!summary.has_application()) return {};
  std::string text = "\nServer (" + Sentence(ServerTitle(summary.application())) + ")";
  const char* separator = ": ";
  for (const std::string& figure : ServerFigures(summary.application())) {
    text += separator + Sentence(figure);
    separator = " · ";
  }
  return text + ".\n";
}

std::string GainText(const FindingSummary& finding) {
  if (!finding.has_gain_ns() && !finding.has_gain_per_step_ns()) return {};
  return " (up to " +
         (finding.has_gain_per_step_ns() ? TimeText(finding.gain_per_step_ns()) + " a step"
                                         : TimeText(finding.gain_ns())) +
         ", " + PercentText(finding.gain_share()) + ")";
}

// Losses below the threshold of their rule stand in one paragraph: each alone would change little.
// Those that are not small all the same stand in one before it.
// Where there is no other, the largest of them still says what to do.
std::string Findings(const Summary& summary) {
  std::string text;
  std::string small, limits, rest;
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() == kRuleOfTheRest) {
      rest = Sentence(finding.title()) + GainText(finding) + ".";
      continue;
    }
    if (finding.below_threshold() && !text.empty()) {
      const std::string& title =
          finding.has_title_short() ? finding.title_short() : finding.title();
      std::string& list = IsSmall(finding) ? small : limits;
      list += (list.empty() ? "" : "; ") + Sentence(title) + GainText(finding);
      continue;
    }
    text += "\n1. **" + Sentence(finding.title()) + "**" + GainText(finding) + ": " +
            Sentence(finding.evidence()) + ". *Try:* " + Sentence(finding.advice());
    if (finding.has_type_this()) {
      text += ". *Type:* <code>" + Sentence(finding.type_this()) + "</code>";
    }
    text += "\n";
  }
  if (!limits.empty())
    text += "\nNot small, but seldom the first thing to change: " + limits + ".\n";
  if (!small.empty()) text += "\nEach of these alone is small: " + small + ".\n";
  if (!rest.empty()) text += "\n" + rest + "\n";
  return text;
}

std::string Alerts(const Summary& summary) {
  std::string text;
  for (const AlertSummary& alert : summary.alerts()) {
    text += "\n- **Alert:** " + Sentence(alert.text());
    if (summary.devices_size() > 1 && alert.has_device_uuid()) {
      text += " (" + MarkdownName(alert.device_uuid(), kNameWidth) + ")";
    }
  }
  return text.empty() ? text : text + "\n";
}

std::string Capture(const Summary& summary) {
  std::string text = "\nCapture: " + Sentence(DescribeCapture(summary)) + ".\n";
  for (const std::string& warning : CaptureWarnings(summary)) {
    text += "\n> " + Sentence(warning) + "\n";
  }
  return text;
}

std::string MarkdownBar(double share) {
  std::string bar;
  const int cells = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarCells + 0.5);
  for (int i = 0; i < cells; ++i) bar += "█";
  return bar;
}

std::string Waterfall(const Summary& summary) {
  if (summary.waterfall().slices().empty()) return {};
  const bool steps = summary.steady_state().scope() == "steps";
  std::string text = steps ? "| slice | of the run | time | of the steps | a step | |\n"
                             "|---|---:|---:|---:|---:|---|\n"
                           : "| slice | share | time | |\n|---|---:|---:|---|\n";
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    text += "| " + MarkdownName(ShownSlice(slice.name()), kNameWidth) + " | " +
            PercentText(slice.share()) + " | " + TimeText(slice.time_ns()) + " | ";
    if (!steps) {
      text += MarkdownBar(slice.share());
    } else if (slice.has_time_per_step_ns()) {
      text += PercentText(slice.steady_state_share()) + " | " + TimeText(slice.time_per_step_ns()) +
              " | " + MarkdownBar(slice.steady_state_share());
    } else {
      text += "| | ";
    }
    text += " |\n";
  }
  return text;
}

// Figures that could not be told apart from others'.
const char* Mark(const KernelSummary& kernel, bool known) {
  return known && kernel.merged_with_size() > 0 ? "~" : "";
}

std::string Kernels(const Summary& summary, const MarkdownOptions& options) {
  if (summary.kernels().empty()) return {};
  // Where GPUs differ, a kernel's share of the roof is that of its own one.
  const bool numbered = !AllShareRoof(summary);
  std::string text =
      std::string(numbered ? "| GPU " : "") +
      "| kernel | savings | time | share | launches | FLOP/s | B/s | bound | of roof |\n" +
      (numbered ? "|---:" : "") + "|---|---:|---:|---:|---:|---:|---:|---|---:|\n";
  const std::vector<const KernelSummary*> kernels = SortedKernels(summary, options.order);
  const size_t rows = std::min<size_t>(options.top, kernels.size());
  const DeviceIndex devices(summary);
  for (size_t i = 0; i < rows; ++i) {
    const KernelSummary& kernel = *kernels[i];
    const double per_second = kernel.time_ns() > 0 ? 1e9 / kernel.time_ns() : 0;
    if (numbered) text += "| " + std::to_string(devices.Of(kernel)) + " ";
    text +=
        "| " + Code(kernel.short_name().empty() ? kernel.name() : kernel.short_name()) + " | " +
        TimeText(KnownValue(kernel.has_estimated_savings_ns(), kernel.estimated_savings_ns())) +
        " | " + TimeText(KnownValue(kernel.has_time_ns(), kernel.time_ns())) + " | " +
        PercentText(KnownValue(kernel.has_time_share(), kernel.time_share())) + " | " +
        CountText(kernel.launches()) + " | " + Mark(kernel, kernel.has_flops_per_second()) +
        CompactMeasuredText(KnownValue(kernel.has_flops_per_second(), kernel.flops_per_second()),
                            kernel.flops_error() * per_second) +
        " | " + Mark(kernel, kernel.has_dram_bytes_per_second()) +
        CompactMeasuredText(
            KnownValue(kernel.has_dram_bytes_per_second(), kernel.dram_bytes_per_second()),
            kernel.dram_bytes_error() * per_second) +
        " | " + BoundText(kernel.bound()) + " | " +
        PercentText(KnownValue(kernel.has_roofline_efficiency(), kernel.roofline_efficiency())) +
        " |\n";
  }
  if (rows < kernels.size()) {
    text += "\n…and " + std::to_string(kernels.size() - rows) + " more.\n";
  }
  return text;
}

std::string Ranks(const Summary& summary) {
  if (summary.ranks().ranks().empty()) return {};
  std::string text = Sentence(summary.ranks().verdict()) +
                     "\n\n| rank | host | last in | others wait |\n|---|---|---:|---:|\n";
  for (const RankSummary& rank : summary.ranks().ranks()) {
    const double collectives = std::max(1.0, static_cast<double>(rank.collectives()));
    text += "| " + (rank.has_rank() ? std::to_string(rank.rank()) : std::string(kUnknown)) + " | " +
            MarkdownName(rank.host(), kNameWidth) + " | " +
            PercentText(static_cast<double>(rank.last_in()) / collectives) + " | " +
            TimeText(rank.waited_for_ns()) + " |\n";
  }
  return text;
}

}  // namespace

std::string RenderMarkdown(const Summary& summary, const MarkdownOptions& options) {
  return Head(summary) + MarkdownFirstScreen(summary) + Findings(summary) + Figures(summary) +
         Yield(summary) + Server(summary) + Alerts(summary) + Capture(summary) +
         Folded("Where GPU time goes", Waterfall(summary)) +
         Folded(std::string("Kernels, ") + NameOf(options.order) + " first",
                Kernels(WithKernelsOfSteps(summary), options)) +
         Folded("Ranks", Ranks(summary));
}

}  // namespace utlz
