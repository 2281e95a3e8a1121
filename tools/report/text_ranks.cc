// The ranks of a merged profile in the text report.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/table.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

std::string SignedTime(double time_ns) {
  return (time_ns < 0 ? "−" : "+") + TimeText(std::abs(time_ns));
}

std::string RenderClock(const ClockSummary& clock, const TextOptions& options) {
  std::string line = "Clock of " + EscapeForTerminal(clock.host()) + ": ";
  if (clock.has_shift_ns()) {
    line += SignedTime(clock.shift_ns()) + " ± " + TimeText(clock.shift_error_ns());
    if (clock.has_drift_ppm()) {
      char drift[80];
      std::snprintf(drift, sizeof(drift), ", drifting by %.3g ppm, so %s off at the ends",
                    clock.drift_ppm(),
                    TimeText(std::abs(clock.drift_ppm()) * 1e-6 * clock.span_ns() / 2).c_str());
      line += drift;
    }
    line += " (" + CountText(clock.collectives()) + " collectives).";
  } else {
    line += "not aligned.";
  }
  if (clock.has_note()) line += " " + EscapeForTerminal(clock.note());
  return Wrap(line, options.columns, 2);
}

}  // namespace

std::string RenderRanks(const Summary& summary, const TextOptions& options) {
  const RanksSummary& ranks = summary.ranks();
  if (ranks.ranks().empty() && ranks.clocks_size() < 2) return {};
  std::string text;
  Table table({{"rank", 0, true},
               {"pid", 9},
               {"collectives", 11},
               {"last in", 8},
               {"others wait for it", 18},
               {"waits itself", 12}},
              options.columns);
  for (int i = 0; i < std::min<int>(static_cast<int>(options.top), ranks.ranks_size()); ++i) {
    const RankSummary& rank = ranks.ranks(i);
    std::string name = rank.has_rank() ? std::to_string(rank.rank()) : std::string(kUnknown);
    if (rank.has_host()) name += " on " + EscapeForTerminal(rank.host());
    const auto last = rank.collectives() == 0
                          ? std::nullopt
                          : std::make_optional(static_cast<double>(rank.last_in()) /
                                               static_cast<double>(rank.collectives()));
    table.AddRow({name, std::to_string(rank.pid()), CountText(rank.collectives()),
                  PercentText(last), TimeText(rank.waited_for_ns()), TimeText(rank.waiting_ns())},
                 rank.straggler() ? Style::kWarning : Style::kPlain);
  }
  if (!table.empty()) text += table.Render(options.color);
  for (int i = 1; i < ranks.clocks_size(); ++i) text += RenderClock(ranks.clocks(i), options);
  return text;
}

}  // namespace utlz
