#include "tools/history_report/history_figures.h"

#include <time.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr double kNsPerSecond = 1e9;
// A change that runs of one job may have by chance.
constexpr double kNotableChange = 0.03;

std::optional<double> Known(bool known, double value) {
  return known && std::isfinite(value) ? std::make_optional(value) : std::nullopt;
}

std::string ChangeText(const char* what, double change) {
  return absl::StrFormat("%s %+.1f %%", what, (change - 1) * 100);
}

}  // namespace

std::optional<double> HfuOf(const HistoryFigures& figures) {
  return Known(figures.has_hfu(), figures.hfu());
}

std::optional<double> BusyOf(const HistoryFigures& figures) {
  return Known(figures.has_busy(), figures.busy());
}

std::optional<double> StepNsOf(const HistoryFigures& figures) {
  return Known(figures.has_step_seconds(), figures.step_seconds() * kNsPerSecond);
}

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

std::string LengthText(double seconds) {
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  if (seconds < 2 * 86400) return absl::StrFormat("%.1f h", seconds / 3600);
  return absl::StrFormat("%.1f d", seconds / 86400);
}

std::string EnergyText(const HistoryFigures& figures) {
  if (!figures.has_energy_joules()) return kUnknown;
  constexpr double kJoulesPerKilowattHour = 3.6e6;
  return absl::StrFormat("%.3g kWh", figures.energy_joules() / kJoulesPerKilowattHour);
}

std::string DramRateText(const HistoryFigures& figures) {
  if (!figures.has_dram_bytes_per_second()) return kUnknown;
  return BytesText(figures.dram_bytes_per_second()) + "/s";
}

RunChange ChangeOf(const HistoryJob& job) {
  std::vector<std::string> changes;
  RunChange change;
  if (job.has_hfu_change()) {
    changes.push_back(ChangeText("HFU", job.hfu_change()));
    change.worse = job.hfu_change() < 1 - kNotableChange;
  }
  if (job.has_step_time_change()) {
    changes.push_back(ChangeText("step time", job.step_time_change()));
    change.worse = change.worse || job.step_time_change() > 1 + kNotableChange;
  }
  if (changes.empty()) return change;
  change.sentence = absl::StrCat("the last run against the one before: ", changes[0],
                                 changes.size() > 1 ? ", " + changes[1] : "");
  return change;
}

std::vector<std::string> TroubleOf(const HistoryJob& job) {
  uint64_t missing = 0;
  double dropped = 0;
  int unfinished = 0;
  for (const HistoryRun& run : job.runs()) {
    missing += run.intervals_missing();
    dropped += run.figures().launches_dropped();
    unfinished += run.ended() ? 0 : 1;
  }
  std::vector<std::string> sentences;
  if (missing > 0) sentences.push_back(absl::StrCat(missing, " intervals are missing"));
  if (dropped > 0) sentences.push_back(absl::StrCat("launches dropped: ", CountText(dropped)));
  if (unfinished > 0) {
    sentences.push_back(absl::StrCat(unfinished, unfinished == 1 ? " run has" : " runs have",
                                     " no end here: it goes on, or its collector was killed"));
  }
  return sentences;
}

std::vector<std::string> TroubleOf(const HistoryReport& report) {
  std::vector<std::string> sentences;
  if (report.intervals_ahead() > 0) {
    sentences.push_back(absl::StrCat(report.intervals_ahead(),
                                     " intervals are dated after now: the clock was set back"));
  }
  if (report.jobs_left_out() > 0) {
    sentences.push_back(absl::StrCat(report.jobs_left_out(),
                                     " jobs are left out: choose a shorter time with --since"));
  }
  if (report.unreadable_bytes() > 0) {
    sentences.push_back(absl::StrCat(BytesText(static_cast<double>(report.unreadable_bytes())),
                                     " of the history cannot be read"));
  }
  return sentences;
}

std::string SpanText(const HistoryReport& report) {
  return absl::StrCat("From ", ClockText(report.since_ns()), " to ", ClockText(report.until_ns()),
                      ": ", report.jobs_size(), report.jobs_size() == 1 ? " job" : " jobs");
}

std::string RunsText(const HistoryJob& job) {
  return absl::StrCat(job.runs_size(), job.runs_size() == 1 ? " run" : " runs");
}

}  // namespace utlz
