#include "tools/history_report/history_text.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/report/message_json.h"
#include "tools/report/table.h"

namespace utlz {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr size_t kNameColumns = 60;
// A change that runs of one job may have by chance.
constexpr double kNotableChange = 0.03;

std::string ClockText(uint64_t realtime_ns) {
  const auto seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm local = {};
  char text[32];
  if (localtime_r(&seconds, &local) == nullptr ||
      strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local) == 0) {
    return kUnknown;
  }
  return text;
}

// "45 s", "12 min", "3.5 h", "2.1 d"
std::string LengthText(double seconds) {
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  if (seconds < 2 * 86400) return absl::StrFormat("%.1f h", seconds / 3600);
  return absl::StrFormat("%.1f d", seconds / 86400);
}

template <typename Message, typename Value>
std::optional<double> Known(bool known, const Message& message, Value (Message::*value)() const) {
  return known ? std::make_optional(static_cast<double>((message.*value)())) : std::nullopt;
}

std::optional<double> Hfu(const HistoryFigures& figures) {
  return Known(figures.has_hfu(), figures, &HistoryFigures::hfu);
}
std::optional<double> Busy(const HistoryFigures& figures) {
  return Known(figures.has_busy(), figures, &HistoryFigures::busy);
}
std::optional<double> StepNs(const HistoryFigures& figures) {
  if (!figures.has_step_seconds()) return std::nullopt;
  return figures.step_seconds() * kNsPerSecond;
}

std::string EnergyText(const HistoryFigures& figures) {
  if (!figures.has_energy_joules()) return kUnknown;
  constexpr double kJoulesPerKilowattHour = 3.6e6;
  return absl::StrFormat("%.3g kWh", figures.energy_joules() / kJoulesPerKilowattHour);
}

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

std::string ChangeText(const char* what, double change) {
  return absl::StrFormat("%s %+.1f %%", what, (change - 1) * 100);
}

void AddChange(const HistoryJob& job, const HistoryTextOptions& options, std::string* text) {
  std::vector<std::string> changes;
  bool worse = false;
  if (job.has_hfu_change()) {
    changes.push_back(ChangeText("HFU", job.hfu_change()));
    worse = worse || job.hfu_change() < 1 - kNotableChange;
  }
  if (job.has_step_time_change()) {
    changes.push_back(ChangeText("step time", job.step_time_change()));
    worse = worse || job.step_time_change() > 1 + kNotableChange;
  }
  if (changes.empty()) return;
  std::string line = absl::StrCat("  the last run against the one before: ", changes[0],
                                  changes.size() > 1 ? ", " + changes[1] : "");
  *text += Styled(line, worse ? Style::kWarning : Style::kPlain, options.color) + "\n";
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
    const std::string rate = figures.has_dram_bytes_per_second()
                                 ? BytesText(figures.dram_bytes_per_second()) + "/s"
                                 : kUnknown;
    table.AddRow({ClockText(run.begin_ns()), LengthText(figures.seconds()),
                  CountText(figures.devices()), PercentText(Hfu(figures)),
                  PercentText(Busy(figures)), rate, TimeText(StepNs(figures)), EnergyText(figures),
                  "  " + Course(run, Hfu)});
  }
  *text += table.Render(options.color);
  if (skipped > 0) *text += absl::StrCat("  ", skipped, " earlier runs are not shown\n");
}

void AddTrouble(const HistoryJob& job, std::string* text) {
  uint64_t missing = 0;
  double dropped = 0;
  int unfinished = 0;
  for (const HistoryRun& run : job.runs()) {
    missing += run.intervals_missing();
    dropped += run.figures().launches_dropped();
    unfinished += run.ended() ? 0 : 1;
  }
  if (missing > 0) *text += absl::StrCat("  ", missing, " intervals are missing\n");
  if (dropped > 0) *text += absl::StrCat("  launches dropped: ", CountText(dropped), "\n");
  if (unfinished > 0) {
    *text += absl::StrCat("  ", unfinished, unfinished == 1 ? " run has" : " runs have",
                          " no end here: it goes on, or its collector was killed\n");
  }
}

}  // namespace

std::string RenderHistory(const HistoryReport& report, const HistoryTextOptions& options) {
  std::string text = absl::StrCat("From ", ClockText(report.since_ns()), " to ",
                                  ClockText(report.until_ns()), ": ", report.jobs_size(),
                                  report.jobs_size() == 1 ? " job\n" : " jobs\n");
  for (const HistoryJob& job : report.jobs()) {
    const std::string title =
        absl::StrCat(TerminalName(job.job(), kNameColumns), " on ",
                     TerminalName(job.host(), kNameColumns), ", ", job.runs_size(),
                     job.runs_size() == 1 ? " run" : " runs");
    text += "\n" + Styled(title, Style::kHeading, options.color) + "\n";
    AddRuns(job, options, &text);
    AddChange(job, options, &text);
    AddTrouble(job, &text);
  }
  if (report.intervals_ahead() > 0) {
    text += absl::StrCat("\n", report.intervals_ahead(),
                         " intervals are dated after now: the clock was set back\n");
  }
  if (report.jobs_left_out() > 0) {
    text += absl::StrCat("\n", report.jobs_left_out(),
                         " jobs are left out: choose a shorter time with --since\n");
  }
  if (report.unreadable_bytes() > 0) {
    text += absl::StrCat("\n", BytesText(static_cast<double>(report.unreadable_bytes())),
                         " of the history cannot be read\n");
  }
  return text;
}

std::string RenderHistoryJson(const HistoryReport& report) {
  return MessageToJson(report).dump(2) + "\n";
}

}  // namespace utlz
