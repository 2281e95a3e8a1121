// The first screen: the kind of problem, what a step would take without it, the families of kernels
// that its time goes to, and how far all this can be trusted.
#include <algorithm>
#include <cctype>
#include <string>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/counted_family.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr size_t kNameColumns = 15;
constexpr size_t kTimeColumns = 9;
constexpr size_t kBarColumns = 30;
constexpr size_t kSpeedupColumns = 8;
constexpr size_t kShareColumns = 9;
constexpr size_t kRateColumns = 13;
constexpr size_t kSavedColumns = 12;
// As ± can be shown: less than this share of a rung.
constexpr double kLeastError = 0.001;

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string NameOf(const LadderRung& rung, const std::string& unit) {
  if (rung.name() == "now") return unit == "run" ? "now" : "one " + unit;
  if (rung.name() == "no_idle") return "no idle time";
  if (rung.name() == "at_roofline") return "at the rooflines";
  if (rung.name() == "at_peak") return "at peak FLOP/s";
  return EscapeForTerminal(rung.name());
}

std::string RenderRung(const LadderRung& rung, const LadderSummary& ladder,
                       const TextOptions& options) {
  const double now_ns = ladder.rungs(0).time_ns();
  std::string line =
      "  " + LeftAligned(NameOf(rung, ladder.unit()), kNameColumns + 2) +
      RightAligned(TimeText(rung.time_ns()), kTimeColumns) + "  " +
      LeftAligned(Bar(now_ns > 0 ? rung.time_ns() / now_ns : 0, kBarColumns), kBarColumns);
  if (rung.name() != "now" && rung.has_speedup()) {
    line += RightAligned(RatioText(rung.speedup()) + "×", kSpeedupColumns);
  }
  const double error_ns = kNormal95 * rung.time_error_ns();
  if (error_ns >= kLeastError * rung.time_ns()) line += "  ± " + TimeText(error_ns);
  while (line.back() == ' ') line.pop_back();
  const Style style = rung.name() == "now" ? Style::kHeading : Style::kPlain;
  return Styled(line, style, options.color) + "\n";
}

std::string RenderFamily(const FamilySummary& family, bool steps, bool counters) {
  const bool counted = IsCounted(family);
  std::string rate = kUnknown;
  if (counted && family.dram_bytes_per_second() > 0) {
    rate = BytesText(family.dram_bytes_per_second()) + "/s";
  }
  std::string saved = kUnknown;
  if (counted && family.has_estimated_savings_ns()) {
    saved =
        TimeText(steps ? family.estimated_savings_per_step_ns() : family.estimated_savings_ns());
  }
  std::string line =
      "  " + LeftAligned(EscapeForTerminal(family.family()), kNameColumns + 2) +
      RightAligned(TimeText(steps ? family.time_per_step_ns() : family.time_ns()), kTimeColumns) +
      RightAligned(PercentText(family.time_share()), kShareColumns);
  if (!counters) return line + "\n";
  line += RightAligned(rate, kRateColumns) + RightAligned(saved, kSavedColumns);
  const std::string uncounted = UncountedText(family);
  if (!uncounted.empty()) line += RightAligned(uncounted, kSavedColumns);
  return line + "\n";
}

// Only a run with kernel counters has the columns of bandwidth and roofs.
bool HasCounters(const Summary& summary) {
  return summary.capture().counter_source() >= SOURCE_SAMPLED;
}

std::string RenderFamilies(const Summary& summary, const TextOptions& options) {
  const bool steps = summary.steady_state().scope() == "steps";
  const bool several = steps && summary.devices_size() > 1;
  std::string head = "  " + LeftAligned(several ? "family (per GPU)" : "family", kNameColumns + 2) +
                     RightAligned(steps ? "a step" : "time", kTimeColumns) +
                     RightAligned("share", kShareColumns);
  if (HasCounters(summary)) {
    head += RightAligned("HBM", kRateColumns) + RightAligned("above roof", kSavedColumns);
    if (SomeUncounted(summary)) head += RightAligned("uncounted", kSavedColumns);
  }
  std::string text = Styled(head, Style::kFaint, options.color) + "\n";
  for (const FamilySummary& family : summary.families()) {
    if (family.time_share() >= kWorthALine) {
      text += RenderFamily(family, steps, HasCounters(summary));
    }
  }
  return text;
}

std::string RenderWhatIsKnown(const Summary& summary, const TextOptions& options) {
  std::string text;
  const auto add = [&](const char* name, const std::string& said) {
    if (!said.empty()) text += Wrap(name + EscapeForTerminal(said), options.columns, 2);
  };
  add("Known: ", summary.known());
  add("Not known: ", summary.not_known());
  add("Type: ", summary.next_command());
  return text;
}

}  // namespace

std::string RenderLadder(const Summary& summary, const TextOptions& options) {
  std::string text;
  if (summary.has_problem()) {
    text +=
        Styled(UpperCase(EscapeForTerminal(summary.problem())), Style::kHeading, options.color) +
        "\n";
  }
  if (summary.ladder().rungs_size() > 1) {
    for (const LadderRung& rung : summary.ladder().rungs()) {
      text += RenderRung(rung, summary.ladder(), options);
    }
    if (summary.ladder().time_kept_ns() > kWorthALine * summary.ladder().rungs(0).time_ns()) {
      text += Wrap("  (" + TimeText(summary.ladder().time_kept_ns()) +
                       " of kernels without counters stay as they are in each)",
                   options.columns, 2, 2);
    }
  }
  // Before what to do, the reader sees how far the figures can be trusted.
  if (summary.has_trust()) {
    text += Wrap("Measured: " + EscapeForTerminal(summary.trust()), options.columns, 2);
  }
  text += RenderWhatIsKnown(summary, options);
  text += RenderDoFirst(summary, options);
  if (!summary.families().empty()) text += RenderFamilies(summary, options);
  text += RenderLevels(summary, options);
  if (summary.ranks().has_verdict()) {
    text += Wrap("Ranks: " + EscapeForTerminal(summary.ranks().verdict()), options.columns, 2);
  }
  text += RenderPhases(summary, options);
  return text;
}

}  // namespace utlz
