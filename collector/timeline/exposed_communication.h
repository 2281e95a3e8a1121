// Of each communication kernel of a device, how long it ran with no compute kernel beside it. Where
// several run so at once, the time is divided among them. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_EXPOSED_COMMUNICATION_H_
#define UTLZ_COLLECTOR_TIMELINE_EXPOSED_COMMUNICATION_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/timeline/concurrency_tracker.h"

namespace utlz {

class ExposedCommunication {
 public:
  static constexpr size_t kMaxRunning = 4096;

  // Launches in order of start, each after the sweep has taken it; those that compute are left out.
  void AddLaunch(const Activity& activity);
  // Segments in order, as the device's sweep closes them.
  void Add(const ActivitySegment& segment);

  double ExposedNs(uint32_t kernel) const;

 private:
  std::vector<Activity> running_;
  std::map<uint32_t, double> exposed_ns_;  // by index into KernelTable
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_EXPOSED_COMMUNICATION_H_
