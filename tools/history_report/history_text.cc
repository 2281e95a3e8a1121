#include "tools/history_report/history_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/history_report/history_figures.h"
#include "tools/json/message_json.h"
#include "tools/report/table.h"

namespace utlz {
namespace {

constexpr size_t kNameColumns = 60;

// One character a part of the run, from nothing to all; a dot where it is not known.
std::string Course(const HistoryRun& run,
                   std::optional<double> (*share)(const HistoryFigures& figures)) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const HistoryFigures& part : run.course()) {
    const std::optional<double> value = share(part);
    if (!value) {
      text += "·";
      continue;
    }
    const double bar = std::clamp(*value, 0.0, 1.0) * (kBars.size() - 1);
    text += kBars[static_cast<size_t>(bar + 0.5)];
  }
  return text;
}

void AddChange(const HistoryJob& job, const HistoryTextOptions& options, std::string* text) {
  const RunChange change = ChangeOf(job);
  if (change.sentence.empty()) return;
  *text += Styled("  " + change.sentence, change.worse ? Style::kWarning : Style::kPlain,
                  options.color) +
           "\n";
}

void AddRuns(const HistoryJob& job, const HistoryTextOptions& options, std::string* text) {
  Table table({{"began", 16, true},
               {"lasted", 8},
               {"GPUs", 5},
               {"HFU", 7},
               {"busy", 7},
               {"HBM/GPU", 10},
               {"step", 9},
               {"energy", 10},
               {"  HFU over time", 0, true}},
              options.columns);
  const int skipped = std::max(0, job.runs_size() - static_cast<int>(options.most_runs));
  for (int i = skipped; i < job.runs_size(); ++i) {
    const HistoryRun& run = job.runs(i);
    const HistoryFigures& figures = run.figures();
    table.AddRow({ClockText(run.begin_ns()), LengthText(figures.seconds()),
                  CountText(figures.devices()), PercentText(HfuOf(figures)),
                  PercentText(BusyOf(figures)), DramRateText(figures), TimeText(StepNsOf(figures)),
                  EnergyText(figures), "  " + Course(run, HfuOf)});
  }
  *text += table.Render(options.color);
  if (skipped > 0) *text += absl::StrCat("  ", skipped, " earlier runs are not shown\n");
}

}  // namespace

std::string RenderHistory(const HistoryReport& report, const HistoryTextOptions& options) {
  std::string text = SpanText(report) + "\n";
  for (const HistoryJob& job : report.jobs()) {
    const std::string title =
        absl::StrCat(TerminalName(job.job(), kNameColumns), " on ",
                     TerminalName(job.host(), kNameColumns), ", ", RunsText(job));
    text += "\n" + Styled(title, Style::kHeading, options.color) + "\n";
    AddRuns(job, options, &text);
    AddChange(job, options, &text);
    for (const std::string& sentence : TroubleOf(job)) text += "  " + sentence + "\n";
  }
  for (const std::string& sentence : TroubleOf(report)) text += "\n" + sentence + "\n";
  return text;
}

std::string RenderHistoryJson(const HistoryReport& report) {
  return EscapeInJson(MessageToJson(report).dump(2)) + "\n";
}

}  // namespace utlz
