// The three largest losses, one line each: what to do first, and what it could give back.
#include <string>
#include <vector>

#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/report/rest_of_losses.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr size_t kMostLines = 3;
constexpr size_t kTitleColumns = 54;
constexpr size_t kTimeColumns = 11;
constexpr size_t kShareColumns = 9;

// Findings stand in the order of their gain, those below their rule's threshold last.
std::vector<const FindingSummary*> LargestOf(const Summary& summary) {
  std::vector<const FindingSummary*> largest;
  for (const FindingSummary& finding : summary.findings()) {
    if (finding.rule() != kRuleOfTheRest && largest.size() < kMostLines)
      largest.push_back(&finding);
  }
  return largest;
}

std::string GainOf(const FindingSummary& finding, bool steps) {
  if (!finding.has_gain_ns()) return std::string(kUnknown);
  return TimeText(steps ? finding.gain_per_step_ns() : finding.gain_ns());
}

std::string Line(const std::string& title, const std::string& gain, const std::string& share) {
  return "  " + LeftAligned(CutMiddle(title, kTitleColumns), kTitleColumns) +
         RightAligned(gain, kTimeColumns) + RightAligned(share, kShareColumns);
}

}  // namespace

std::string RenderDoFirst(const Summary& summary, const TextOptions& options) {
  const std::vector<const FindingSummary*> findings = LargestOf(summary);
  if (findings.empty()) return {};
  const bool steps = findings.front()->has_gain_per_step_ns();
  const char* const heading = !findings.front()->below_threshold() ? "do first"
                              : IsSmall(*findings.front()) ? "largest losses, each of them small"
                                                           : "largest losses";
  std::string text =
      Styled(Line(heading, steps ? "gain a step" : "gain", "share"), Style::kFaint, options.color) +
      "\n";
  for (size_t i = 0; i < findings.size(); ++i) {
    const FindingSummary& finding = *findings[i];
    const std::string& title = finding.has_title_short() ? finding.title_short() : finding.title();
    const std::string share =
        finding.has_gain_share() ? PercentText(finding.gain_share()) : std::string(kUnknown);
    const Style style = finding.below_threshold() ? Style::kPlain : Style::kHeading;
    text += Styled(Line(std::to_string(i + 1) + "  " + EscapeForTerminal(title),
                        GainOf(finding, steps), share),
                   style, options.color) +
            "\n";
  }
  return text;
}

}  // namespace utlz
