#include "collector/text/shown_slice.h"
#include "collector/text/shown_text.h"
#include "tools/compare/change_text.h"
#include "tools/compare/render_difference.h"

namespace utlz {
namespace {

constexpr size_t kNameWidth = 80;

bool IsWorthALine(const Change& change, const DifferenceTextOptions& options) {
  return options.unchanged || change.IsReal();
}

std::string ChangeCell(const Change& change, const std::string& unit) {
  switch (change.verdict) {
    case Verdict::kAppeared:
      return "new";
    case Verdict::kGone:
      return "gone";
    case Verdict::kNoDifference:
      return "no difference";
    case Verdict::kUnknown:
      return "–";
    case Verdict::kDecrease:
    case Verdict::kIncrease:
      break;
  }
  // An interval is in the unit of the change: of a share in points, and no per cent beside it.
  std::string text =
      "**" + DeltaText(change.Delta(), unit) + "** (" + IntervalText(change.error, unit) + ")";
  if (unit != "share") text += ", " + SignedNumberText(change.RelativeDelta(), "share");
  return text;
}

std::string Row(const std::string& name, const Change& change, const std::string& unit) {
  return "| " + name + " | " + NumberText(change.before, unit) + " | " +
         NumberText(change.after, unit) + " | " + ChangeCell(change, unit) + " |\n";
}

std::string Heading(const std::string& title, const DifferenceTextOptions& options) {
  const auto label = [](const std::string& given, const char* side) {
    return given.empty() ? side : MarkdownName(given, kNameWidth);
  };
  return "\n| " + title + " | " + label(options.before_label, "before") + " | " +
         label(options.after_label, "after") + " | change |\n|---|---:|---:|---:|\n";
}

std::string KernelCell(const KernelChange& kernel) {
  const std::string& name = kernel.name_after.empty() ? kernel.name_before : kernel.name_after;
  std::string cell = "<code>" + MarkdownName(name, kNameWidth) + "</code>";
  if (kernel.matched_by == MatchedBy::kRole) {
    cell += " instead of <code>" + MarkdownName(kernel.name_before, kNameWidth) + "</code>";
  }
  if (kernel.matched_by == MatchedBy::kName) {
    cell += " (" + kernel.shape_after + "; was " + kernel.shape_before + ")";
  }
  return cell;
}

std::string KernelTable(const Difference& difference, const DifferenceTextOptions& options) {
  std::string rows;
  size_t shown = 0;
  for (const KernelChange& kernel : difference.kernels) {
    if (shown == options.kernels || !IsWorthALine(kernel.time_ns, options)) continue;
    rows += Row(KernelCell(kernel), kernel.time_ns, "ns");
    ++shown;
  }
  if (rows.empty()) return "";
  return "\n<details><summary>Kernels</summary>\n" + Heading("kernel", options) + rows +
         "\n</details>\n";
}

std::string LayerName(const std::string& name) {
  return "<code>" + MarkdownName(name, kNameWidth) + "</code>";
}

// Rows up to the most that are shown, and how many more there are.
class FirstRows {
 public:
  explicit FirstRows(size_t most) : most_(most) {}

  void Add(const std::string& row) {
    if (shown_ < most_) rows_ += row;
    ++shown_;
  }
  bool empty() const { return shown_ == 0; }
  const std::string& rows() const { return rows_; }
  std::string More() const {
    return shown_ <= most_ ? "" : "\n…and " + std::to_string(shown_ - most_) + " more.\n";
  }

 private:
  size_t most_;
  size_t shown_ = 0;
  std::string rows_;
};

FirstRows EachLayerRows(const Difference& difference, const DifferenceTextOptions& options) {
  FirstRows rows(options.kernels);
  for (const LayerChange& layer : difference.layers) {
    if (IsWorthALine(layer.time_ns, options))
      rows.Add(Row(LayerName(layer.name), layer.time_ns, "ns"));
  }
  return rows;
}

// Layers that repeat, summed; below them the single ones that stand out.
FirstRows RepeatedLayerRows(const Difference& difference, const DifferenceTextOptions& options) {
  FirstRows rows(options.kernels);
  for (const RepeatedLayerChange& repeated : difference.repeated_layers) {
    std::string single;
    for (const size_t index : repeated.layers) {
      const LayerChange& layer = difference.layers[index];
      if (layer.stands_out) single += Row("of them " + LayerName(layer.name), layer.time_ns, "ns");
    }
    if (single.empty() && !IsWorthALine(repeated.time_ns, options)) continue;
    const std::string name = LayerName(repeated.name) +
                             InstancesText(repeated.instances_before, repeated.instances_after);
    rows.Add(Row(name, repeated.time_ns, "ns") + single);
  }
  return rows;
}

std::string LayerTable(const Difference& difference, const DifferenceTextOptions& options) {
  const FirstRows rows = options.by == DifferenceBy::kEachLayer
                             ? EachLayerRows(difference, options)
                             : RepeatedLayerRows(difference, options);
  if (rows.empty()) return "";
  return "\n<details><summary>Layers</summary>\n" + Heading("layer", options) + rows.rows() +
         rows.More() + "\n</details>\n";
}

// All that was asked for; layers, where there are any, stand behind kernels too.
std::string FoldedTables(const Difference& difference, const DifferenceTextOptions& options) {
  const std::string layers = LayerTable(difference, options);
  if (options.by == DifferenceBy::kKernel) return KernelTable(difference, options) + layers;
  if (difference.layers.empty()) {
    return "\nNo layers to compare: both sides must be recorded with --stacks=auto.\n";
  }
  return layers.empty() ? "\nNo layer changed beyond error.\n" : layers;
}

std::string_view OutcomeText(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass:
      return "Performance gate: pass";
    case GateOutcome::kRegression:
      return "Performance gate: regression";
    case GateOutcome::kRefused:
      return "Performance gate: refused";
    case GateOutcome::kOtherProgram:
      return "Performance gate: another program";
    case GateOutcome::kInconclusive:
      return "Performance gate: inconclusive";
  }
  return "";
}

}  // namespace

std::string RenderDifferenceMarkdown(const Difference& difference,
                                     const DifferenceTextOptions& options) {
  std::string text = MarkdownName(difference.verdict, 0) + "\n";
  for (const std::string& caveat : difference.caveats) {
    text += "\n> " + MarkdownName(caveat, 0) + "\n";
  }
  std::string rows;
  for (const QuantityChange& quantity : difference.quantities) {
    if (IsWorthALine(quantity.change, options)) {
      rows += Row(MarkdownName(QuantityText(quantity.name), kNameWidth), quantity.change,
                  quantity.unit);
    }
  }
  for (const SliceChange& slice : difference.slices) {
    if (IsWorthALine(slice.time_ns, options)) {
      rows += Row(MarkdownName(ShownSlice(slice.name), kNameWidth), slice.time_ns, "ns");
    }
  }
  if (!rows.empty()) {
    text += Heading(difference.per_step ? "per step" : "per run", options) + rows;
  }
  return text + FoldedTables(difference, options);
}

std::string RenderGateMarkdown(const GateResult& result) {
  std::string text = "### " + std::string(OutcomeText(result.outcome)) + "\n";
  for (const std::string& reason : result.reasons) text += "\n- " + MarkdownName(reason, 0);
  text += "\n";
  if (HasDifference(result.outcome)) {
    text += "\n" + RenderDifferenceMarkdown(result.difference);
  }
  return text;
}

}  // namespace utlz
