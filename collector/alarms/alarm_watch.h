// The alarms of one job: an alarm is raised when a condition begins and is over when it ends.
// Look() is called about once a second; times are those of the readings. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_ALARM_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_ALARM_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "collector/alarms/condition.h"
#include "collector/alarms/job_watch.h"
#include "collector/alarms/queue_watch.h"
#include "collector/alarms/rank_watch.h"
#include "collector/alarms/readings.h"
#include "collector/alarms/stillness_watch.h"
#include "collector/metrics/metrics_snapshot.h"
#include "proto/profile.pb.h"

namespace utlz {

class AlarmWatch {
 public:
  // Bounds of alarms that are raised at the same time, and of alarms that are reported in one run.
  // Further ones are only counted.
  static constexpr size_t kMostRaised = 64;
  static constexpr uint32_t kMostReported = 1000;

  // What is new: alarms that are raised, and those that are over, which have their end.
  std::vector<Alarm> Look(const Readings& readings);

  // The metrics of alarms. `host` is of the labels that every metric has.
  void AddTo(const Labels& host, MetricsSnapshot* snapshot) const;

 private:
  using Raised = std::pair<Condition, Alarm>;

  void Raise(const Condition& condition, uint64_t now_ns, std::vector<Alarm>* news);

  JobWatch job_;
  RankWatch ranks_;
  StillnessWatch stillness_;
  QueueWatch queue_;
  std::vector<Raised> raised_;
  std::array<uint64_t, kAlarmKinds> counts_{};
  uint32_t reported_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_ALARM_WATCH_H_
