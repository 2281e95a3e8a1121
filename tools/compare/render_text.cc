#include <algorithm>

#include "collector/text/kernel_name_fit.h"
#include "collector/text/shown_slice.h"
#include "collector/text/shown_text.h"
#include "tools/compare/change_text.h"
#include "tools/compare/render_difference.h"

namespace utlz {
namespace {

constexpr size_t kMostNameWidth = 38;
constexpr size_t kFewestNameWidth = 16;
constexpr size_t kNumberWidth = 12;
constexpr size_t kShareWidth = 10;
// What stands behind a name: two numbers, the change, its share, its interval.
constexpr size_t kColumnsBehindName = 65;
// Narrower tables leave the share out, which the numbers tell too.
constexpr size_t kFewestWithShare = 90;
constexpr size_t kLabelWidth = 90;

// Columns count characters, not bytes: "µs" and "×" are two bytes each.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string Left(std::string text, size_t width) {
  const size_t used = Width(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string Right(const std::string& text, size_t width) {
  const size_t used = Width(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

std::string VerdictText(const Change& change) {
  switch (change.verdict) {
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kNoDifference:
      return "no difference";
    case Verdict::kAppeared:
      return "new";
    case Verdict::kGone:
      return "gone";
    case Verdict::kDecrease:
    case Verdict::kIncrease:
      return "";
  }
  return "";
}

bool IsWorthALine(const Change& change, const DifferenceTextOptions& options) {
  return options.unchanged || change.IsReal();
}

bool HasShare(const DifferenceTextOptions& options) { return options.columns >= kFewestWithShare; }

size_t NameWidth(const DifferenceTextOptions& options) {
  const size_t behind = kColumnsBehindName - (HasShare(options) ? 0 : kShareWidth);
  const size_t rest = options.columns > behind ? options.columns - behind : 0;
  return std::clamp(rest, kFewestNameWidth, kMostNameWidth);
}

std::string Line(const std::string& name, const Change& change, const std::string& unit,
                 const DifferenceTextOptions& options) {
  const size_t width = NameWidth(options);
  std::string line = "  " + Left(CutMiddle(name, width), width) +
                     Right(NumberText(change.before, unit), kNumberWidth) +
                     Right(NumberText(change.after, unit), kNumberWidth) +
                     Right(DeltaText(change.Delta(), unit), kNumberWidth + 1);
  if (HasShare(options)) {
    line += " " + Right(SignedNumberText(change.RelativeDelta(), "share"), kShareWidth - 1);
  }
  if (change.error) line += "  " + IntervalText(change.error, unit);
  const std::string verdict = VerdictText(change);
  if (!verdict.empty()) line += "  " + verdict;
  return line + "\n";
}

std::string Heading(const std::string& title, const DifferenceTextOptions& options) {
  return "\n" + Left(title, NameWidth(options) + 2) + Right("before", kNumberWidth) +
         Right("after", kNumberWidth) + Right("change", kNumberWidth + 1) + "\n";
}

std::string KernelName(const KernelChange& kernel, const DifferenceTextOptions& options) {
  const std::string& name = kernel.name_after.empty() ? kernel.name_before : kernel.name_after;
  return FitKernelName(TerminalName(name, 0), NameWidth(options));
}

// Under a kernel's line: what is not the same function and shape on both sides.
std::string KernelNote(const KernelChange& kernel) {
  if (kernel.matched_by == MatchedBy::kName) {
    return "      was " + kernel.shape_before + "; now " + kernel.shape_after + "\n";
  }
  if (kernel.matched_by == MatchedBy::kRole) {
    return "      took the place of " + TerminalName(kernel.name_before, kMostNameWidth) + "\n";
  }
  return "";
}

std::string QuantitiesText(const Difference& difference, const DifferenceTextOptions& options) {
  std::string lines;
  for (const QuantityChange& quantity : difference.quantities) {
    if (!IsWorthALine(quantity.change, options)) continue;
    lines += Line(QuantityText(quantity.name), quantity.change, quantity.unit, options);
  }
  return lines.empty() ? "" : Heading("Numbers of the run", options) + lines;
}

std::string SlicesText(const Difference& difference, const DifferenceTextOptions& options) {
  std::string lines;
  for (const SliceChange& slice : difference.slices) {
    if (IsWorthALine(slice.time_ns, options)) {
      lines += Line(TerminalName(ShownSlice(slice.name), 0), slice.time_ns, "ns", options);
    }
  }
  return lines.empty() ? "" : Heading("Where the time goes", options) + lines;
}

// The first rows, and how many more there are.
class FirstRows {
 public:
  explicit FirstRows(size_t most) : most_(most) {}

  void Add(const std::string& row) {
    if (shown_ == most_) {
      ++left_out_;
      return;
    }
    lines_ += row;
    ++shown_;
  }
  std::string Lines() const {
    return left_out_ == 0 ? lines_ : lines_ + "  and " + std::to_string(left_out_) + " more\n";
  }

 private:
  size_t most_;
  size_t shown_ = 0;
  size_t left_out_ = 0;
  std::string lines_;
};

std::string KernelsText(const Difference& difference, const DifferenceTextOptions& options) {
  FirstRows rows(options.kernels);
  for (const KernelChange& kernel : difference.kernels) {
    if (!IsWorthALine(kernel.time_ns, options)) continue;
    rows.Add(Line(KernelName(kernel, options), kernel.time_ns, "ns", options) + KernelNote(kernel));
  }
  const std::string lines = rows.Lines();
  return lines.empty() ? "" : Heading("Kernels", options) + lines;
}

std::string EachLayerLines(const Difference& difference, const DifferenceTextOptions& options) {
  FirstRows rows(options.kernels);
  for (const LayerChange& layer : difference.layers) {
    if (!IsWorthALine(layer.time_ns, options)) continue;
    rows.Add(Line(TerminalName(layer.name, 0), layer.time_ns, "ns", options));
  }
  return rows.Lines();
}

std::string RepeatedName(const RepeatedLayerChange& layer) {
  return TerminalName(layer.name, 0) + InstancesText(layer.instances_before, layer.instances_after);
}

// Layers that repeat, summed; below them the single ones that stand out.
std::string RepeatedLayerLines(const Difference& difference, const DifferenceTextOptions& options) {
  FirstRows rows(options.kernels);
  for (const RepeatedLayerChange& repeated : difference.repeated_layers) {
    std::string single;
    for (const size_t index : repeated.layers) {
      const LayerChange& layer = difference.layers[index];
      if (layer.stands_out) {
        single += Line("  " + TerminalName(layer.name, 0), layer.time_ns, "ns", options);
      }
    }
    if (single.empty() && !IsWorthALine(repeated.time_ns, options)) continue;
    rows.Add(Line(RepeatedName(repeated), repeated.time_ns, "ns", options) + single);
  }
  return rows.Lines();
}

std::string LayersText(const Difference& difference, const DifferenceTextOptions& options) {
  if (difference.layers.empty()) {
    return "\nNo layers to compare: both sides must be recorded with --stacks=auto.\n";
  }
  const std::string lines = options.by == DifferenceBy::kEachLayer
                                ? EachLayerLines(difference, options)
                                : RepeatedLayerLines(difference, options);
  return lines.empty() ? "\nNo layer changed beyond error.\n" : Heading("Layers", options) + lines;
}

}  // namespace

std::string RenderDifferenceText(const Difference& difference,
                                 const DifferenceTextOptions& options) {
  std::string text;
  if (options.before_label != options.after_label) {
    text = "before: " + TerminalName(options.before_label, kLabelWidth) +
           "\nafter:  " + TerminalName(options.after_label, kLabelWidth) + "\n";
  }
  text += difference.verdict + "\n";
  for (const std::string& caveat : difference.caveats) text += "Note: " + caveat + "\n";
  text += difference.per_step ? "Times are per step" : "Times are per run";
  text +=
      "; ± is the 95 % interval of the change; pt: points of per cent; changes within error are " +
      std::string(options.unchanged ? "marked.\n" : "left out.\n");
  return text + QuantitiesText(difference, options) + SlicesText(difference, options) +
         (options.by == DifferenceBy::kKernel ? KernelsText(difference, options)
                                              : LayersText(difference, options));
}

std::string RenderGateText(const GateResult& result) {
  std::string text;
  switch (result.outcome) {
    case GateOutcome::kPass:
      text = "PASS";
      break;
    case GateOutcome::kRegression:
      text = "REGRESSION";
      break;
    case GateOutcome::kRefused:
      text = "REFUSED";
      break;
    case GateOutcome::kOtherProgram:
      text = "OTHER PROGRAM";
      break;
    case GateOutcome::kInconclusive:
      text = "INCONCLUSIVE";
      break;
  }
  for (const std::string& reason : result.reasons) text += "\n  " + reason;
  text += "\n";
  if (result.outcome == GateOutcome::kRegression) {
    text += "\n" + RenderDifferenceText(result.difference);
  }
  return text;
}

}  // namespace utlz
