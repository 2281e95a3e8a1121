#include "tools/report/markdown_first_screen.h"

#include <string>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/report/counted_family.h"
#include "tools/report/levels_text.h"

namespace utlz {
namespace {

constexpr size_t kNameWidth = 80;
constexpr size_t kSentenceWidth = 1000;

std::string Paragraph(const std::string& text) {
  return text.empty() ? text : "\n" + MarkdownName(text, kSentenceWidth) + ".\n";
}

std::string NameOf(const LadderRung& rung, const std::string& unit) {
  if (rung.name() == "now") return unit == "run" ? "now" : "one " + unit;
  if (rung.name() == "no_idle") return "no idle time";
  if (rung.name() == "at_roofline") return "at the rooflines";
  return rung.name() == "at_peak" ? "at peak FLOP/s" : rung.name();
}

std::string Ladder(const LadderSummary& ladder) {
  if (ladder.rungs_size() < 2) return {};
  std::string text = "\n| | time | ± | faster |\n|---|---:|---:|---:|\n";
  for (const LadderRung& rung : ladder.rungs()) {
    const bool faster = rung.name() != "now" && rung.has_speedup();
    text += "| " + MarkdownName(NameOf(rung, ladder.unit()), kNameWidth) + " | " +
            TimeText(rung.time_ns()) + " | " +
            (rung.time_error_ns() > 0 ? TimeText(kNormal95 * rung.time_error_ns()) : "") + " | " +
            (faster ? RatioText(rung.speedup()) + "×" : "") + " |\n";
  }
  return text;
}

std::string Families(const Summary& summary) {
  if (summary.families().empty()) return {};
  const bool steps = summary.steady_state().scope() == "steps";
  const bool several = steps && summary.devices_size() > 1;
  const bool uncounted = SomeUncounted(summary);
  std::string text = std::string("\n| family") + (several ? " (per GPU) | " : " | ") +
                     (steps ? "a step" : "time") + " | share | HBM | above roof |" +
                     (uncounted ? " uncounted |" : "") + "\n|---|---:|---:|---:|---:|" +
                     (uncounted ? "---:|" : "") + "\n";
  for (const FamilySummary& family : summary.families()) {
    if (family.time_share() < kWorthALine) continue;
    std::string rate = kUnknown;
    std::string above = kUnknown;
    const bool counted = IsCounted(family);
    if (counted && family.dram_bytes_per_second() > 0)
      rate = BytesText(family.dram_bytes_per_second()) + "/s";
    if (counted && family.has_estimated_savings_ns()) {
      above =
          TimeText(steps ? family.estimated_savings_per_step_ns() : family.estimated_savings_ns());
    }
    text += "| " + MarkdownName(family.family(), kNameWidth) + " | " +
            TimeText(steps ? family.time_per_step_ns() : family.time_ns()) + " | " +
            PercentText(family.time_share()) + " | " + rate + " | " + above + " |";
    if (uncounted) text += " " + UncountedText(family) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace

std::string MarkdownFirstScreen(const Summary& summary) {
  std::string text;
  if (summary.has_problem()) text += "\n**" + MarkdownName(summary.problem(), kNameWidth) + "**\n";
  text += Ladder(summary.ladder());
  if (summary.has_trust()) text += Paragraph("Measured: " + summary.trust());
  if (summary.has_known()) text += Paragraph("Known: " + summary.known());
  if (summary.has_not_known()) text += Paragraph("Not known: " + summary.not_known());
  if (summary.has_next_command()) {
    text += "\nType: <code>" + MarkdownName(summary.next_command(), kSentenceWidth) + "</code>\n";
  }
  text += Families(summary);
  text += Paragraph(DescribeLevels(summary));
  return text;
}

}  // namespace utlz
