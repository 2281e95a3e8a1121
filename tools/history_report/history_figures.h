// What every form of the history's report says alike. Pure, thread-safe.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_HISTORY_FIGURES_H_
#define UTLZ_TOOLS_HISTORY_REPORT_HISTORY_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/history.pb.h"

namespace utlz {

// Nothing where not known.
std::optional<double> HfuOf(const HistoryFigures& figures);
std::optional<double> BusyOf(const HistoryFigures& figures);
std::optional<double> StepNsOf(const HistoryFigures& figures);

// "2026-11-20 09:00" in the local time zone.
std::string ClockText(uint64_t realtime_ns);
// "45 s", "12 min", "3.5 h", "2.1 d"
std::string LengthText(double seconds);
std::string EnergyText(const HistoryFigures& figures);
std::string DramRateText(const HistoryFigures& figures);

// How the last run differs from the one before; an empty sentence where that is not known.
struct RunChange {
  std::string sentence;
  bool worse = false;  // by more than runs of one job differ by chance
};
RunChange ChangeOf(const HistoryJob& job);

// Sentences on what is missing of a job's runs, and of the whole report.
std::vector<std::string> TroubleOf(const HistoryJob& job);
std::vector<std::string> TroubleOf(const HistoryReport& report);

// "From … to …: 3 jobs"
std::string SpanText(const HistoryReport& report);
// "2 runs"
std::string RunsText(const HistoryJob& job);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_HISTORY_FIGURES_H_
