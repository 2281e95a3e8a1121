// The history of one run that goes on: takes its snapshots of metrics, and hands its intervals to
// the log.
//
// Thread safety: one thread at a time.
#ifndef UTLZ_COLLECTOR_HISTORY_RUN_HISTORY_H_
#define UTLZ_COLLECTOR_HISTORY_RUN_HISTORY_H_

#include <functional>
#include <string>
#include <vector>

#include "collector/history/interval_recorder.h"
#include "collector/metrics/metrics_snapshot.h"
#include "proto/history.pb.h"

namespace utlz {

using HistoryClock = std::function<HistoryTime()>;
HistoryTime SystemHistoryTime();

// 16 bytes at random.
std::string NewHistoryRun();

// What a run is known by that does `command`: the job is the command's text, so that the runs of
// one command are compared with each other.
HistoryRunName NameRun(const std::vector<std::string>& command, const std::string& profile_path);

class RunHistory {
 public:
  using Sink = std::function<void(HistoryInterval interval)>;

  RunHistory(const HistoryRunName& name, Sink sink, HistoryClock clock = SystemHistoryTime,
             uint64_t interval_ns = IntervalRecorder::kIntervalNs);

  void Publish(const MetricsSnapshot& snapshot);
  // After the last snapshot. A run that used no GPU leaves nothing.
  void End();

 private:
  HistoryClock clock_;
  Sink sink_;
  IntervalRecorder recorder_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_RUN_HISTORY_H_
