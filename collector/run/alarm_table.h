// What the collector noticed while the job ran, by the number of the alarm. Bounded; alarms beyond
// are not kept. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_ALARM_TABLE_H_
#define UTLZ_COLLECTOR_RUN_ALARM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "proto/profile.pb.h"

namespace utlz {

class AlarmTable {
 public:
  static constexpr size_t kMostAlarms = 1000;

  // A later entry of the same alarm replaces the earlier one. False if there is no room.
  bool Add(const Alarm& alarm) {
    if (alarms_.size() >= kMostAlarms && !alarms_.contains(alarm.number())) return false;
    alarms_[alarm.number()] = alarm;
    return true;
  }
  const std::map<uint32_t, Alarm>& alarms() const { return alarms_; }

 private:
  std::map<uint32_t, Alarm> alarms_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_ALARM_TABLE_H_
