// Makes intervals of a run's metrics: what counters grew by, and means of what is true of a moment.
//
// Durations are of the monotonic clock, so that they are true where the other one is set.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_HISTORY_INTERVAL_RECORDER_H_
#define UTLZ_COLLECTOR_HISTORY_INTERVAL_RECORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/metrics/metrics_snapshot.h"
#include "collector/metrics/time_cause.h"
#include "proto/history.pb.h"

namespace utlz {

struct HistoryTime {
  uint64_t realtime_ns = 0;
  uint64_t monotonic_ns = 0;
};

// Texts are cut to what labels may have.
struct HistoryRunName {
  std::string run = {};  // 16 bytes
  std::string job = {};
  std::string host = {};
  std::string program = {};
  std::string profile = {};
};

class IntervalRecorder {
 public:
  static constexpr uint64_t kIntervalNs = 60'000'000'000;
  static constexpr size_t kMostDevices = 64;

  IntervalRecorder(const HistoryRunName& name, const HistoryTime& begin,
                   uint64_t interval_ns = kIntervalNs);

  // The interval that this snapshot closes, if it does: its figures reach as far as the snapshot.
  std::optional<HistoryInterval> Add(const MetricsSnapshot& snapshot, const HistoryTime& now);

  // Returns the unfinished interval. Call it once, at the end of the run, after the last Add().
  HistoryInterval Close(const HistoryTime& now);

  // Whether any snapshot so far named a GPU.
  bool HasDevices() const { return !now_.devices.empty(); }

 private:
  static constexpr size_t kDeviceCounts = 9;
  static constexpr size_t kDeviceMeans = 4;
  static constexpr size_t kJobCounts = 7;

  struct Mean {
    double sum = 0;
    int samples = 0;
  };
  struct DeviceTotals {
    std::string name;
    // Since the run began: the metrics of kDeviceCountMetrics, then the time of each TimeCause.
    std::array<std::optional<double>, kDeviceCounts + kTimeCauses> counts;
    std::array<Mean, kDeviceMeans> means;  // of this interval
  };
  struct Totals {
    std::array<std::optional<double>, kJobCounts> counts;
    std::map<std::string, DeviceTotals> devices;  // by UUID
    double processes = 0;
  };

  void Read(const MetricsSnapshot& snapshot);
  DeviceTotals* DeviceOf(const MetricSample& sample);
  HistoryInterval End(const HistoryTime& now, bool last);
  static void WriteDevice(const DeviceTotals& now, const DeviceTotals& before,
                          HistoryDevice* device);

  HistoryRunName name_;
  uint64_t interval_ns_;
  uint64_t begin_ns_;  // monotonic
  uint32_t next_number_ = 0;
  Totals now_;
  Totals before_;  // when the interval began
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_INTERVAL_RECORDER_H_
