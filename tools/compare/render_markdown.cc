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
  return text + KernelTable(difference, options);
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
