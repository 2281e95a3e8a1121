// Whether the pace of a job, or its HFU, falls against its own past.
//
// The pace is of operations (kernels, copies, launches of graphs), which CUPTI numbers whether they
// are traced or not: it is known far better than FLOPs of a second are. The HFU is the pace times
// what an operation was worth in the last minute, so that a job that slows down is seen at once,
// and one whose operations do less after a minute.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_JOB_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_JOB_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "collector/alarms/condition.h"
#include "collector/alarms/fall_watch.h"
#include "collector/alarms/readings.h"

namespace utlz {

class JobWatch {
 public:
  // Over which it is measured what an operation is worth.
  static constexpr uint64_t kWorthNs = 60'000'000'000;
  // A block of the pace holds at least so many.
  static constexpr double kFewestOperations = 50;

  Conditions Look(const Readings& readings);

 private:
  // Totals of all GPUs and processes.
  struct Point {
    uint64_t time_ns = 0;
    double operations = 0;
    double peak_ns = 0;  // that what was executed needs at the peak
  };

  void AddWork(const Readings& readings);
  void AddPace(const Readings& readings);
  void Forget();

  std::map<std::string, DeviceReading> devices_;  // as they were, by UUID
  double peak_ns_ = 0;
  std::deque<Point> points_;
  double worth_ns_ = 0;  // of the operations so far, each as it was worth at its time
  FallWatch pace_{kFewestOperations};
  FallWatch hfu_;
  size_t processes_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_JOB_WATCH_H_
