// Sums intervals of the history up: jobs, their runs, and the course of each run. Takes them one by
// one in any order, so that weeks need no more memory than their report.
//
// Bounded: kMostRuns runs, kMostParts parts of each. Intervals are hostile: what is no number, or
// negative, counts as not known. Thread safety: none.
#ifndef UTLZ_COLLECTOR_HISTORY_HISTORY_TRENDS_H_
#define UTLZ_COLLECTOR_HISTORY_HISTORY_TRENDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proto/history.pb.h"

namespace utlz {

class HistoryTrends {
 public:
  static constexpr size_t kMostRuns = 4096;
  static constexpr uint32_t kMostParts = 48;
  static constexpr size_t kMostDevices = 1024;  // of a run
  // A clock that is ahead by less was not set back.
  static constexpr uint64_t kToleranceNs = 60'000'000'000;

  // CLOCK_REALTIME. Intervals that ended before `since_ns` are left out.
  HistoryTrends(uint64_t since_ns, uint64_t until_ns);

  void Add(const HistoryInterval& interval);

  HistoryReport Finish(uint64_t unreadable_bytes) const;

 private:
  // A value that only counts where it is known, with the time for which it is.
  struct Known {
    double sum = 0;
    double seconds = 0;
  };
  struct Figures {
    uint64_t begin_ns = 0;
    double seconds = 0;
    double kernel_seconds = 0;
    double uncounted_seconds = 0;
    double all_seconds = 0;  // of the devices, by cause
    double traced_seconds = 0;
    double busy_seconds = 0;
    double launches_dropped = 0;
    Known peak;
    Known dram;
    Known sm_active;
    Known nvml_busy;
    Known steps;
    Known tokens;
    Known items;
    std::optional<double> recoverable_seconds;
    std::optional<double> energy_joules;
  };
  struct Run {
    std::string id;
    std::string program;
    std::string profile;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    bool ended = false;
    uint64_t intervals = 0;
    uint32_t first_number = 0;
    uint32_t last_number = 0;
    std::set<std::string> devices;
    Figures whole;
    std::map<uint32_t, Figures> parts;
  };
  struct Job {
    std::string name;
    std::string host;
    std::vector<Run> runs;
  };

  Run* RunOf(const HistoryInterval& interval);
  static void AddTo(Figures* figures, const HistoryInterval& interval, uint64_t begin_ns);
  static HistoryRun Shown(const Run& run);
  static HistoryFigures Shown(const Figures& figures, size_t devices);

  uint64_t since_ns_;
  uint64_t until_ns_;
  uint64_t part_ns_;
  std::vector<Job> jobs_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // of jobs, by host and name
  std::map<std::string, std::pair<size_t, size_t>> runs_;         // job and run, by identifier
  uint64_t intervals_ = 0;
  uint64_t intervals_ahead_ = 0;
  std::set<std::string> left_out_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_HISTORY_TRENDS_H_
