// Whether a job that holds GPUs does nothing with them: it never launches, or all its processes
// wait in a collective that one of them does not come to. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_STILLNESS_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_STILLNESS_WATCH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/alarms/condition.h"
#include "collector/alarms/readings.h"

namespace utlz {

class StillnessWatch {
 public:
  // A GPU that is held and not busy for so long is not used.
  static constexpr uint64_t kIdleNs = 300'000'000'000;
  // No process has done anything for so long, or so many times as long as ever before: a hang.
  static constexpr uint64_t kHangNs = 60'000'000'000;
  static constexpr uint64_t kTimesLonger = 3;
  // A kernel that waits for others keeps its GPU this busy; a GPU below the second does nothing.
  static constexpr double kWaitsBusy = 0.9;
  static constexpr double kNotBusy = 0.05;

  Conditions Look(const Readings& readings);

 private:
  struct Past {
    uint64_t last_work_ns = 0;
    uint64_t longest_pause_ns = 0;
  };

  void Remember(const Readings& readings);
  void AddIdle(const Readings& readings, Conditions* conditions) const;
  void AddHang(const Readings& readings, Conditions* conditions) const;
  uint64_t PatienceNs() const;

  std::map<uint32_t, Past> pasts_;  // by source
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_STILLNESS_WATCH_H_
