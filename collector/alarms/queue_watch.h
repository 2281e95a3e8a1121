// Whether a server's GPU is busy, its queue grows, and its throughput does not: more requests than
// it can serve, whatever the dashboard's utilization says. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_QUEUE_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_QUEUE_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "collector/alarms/condition.h"
#include "collector/alarms/readings.h"

namespace utlz {

class QueueWatch {
 public:
  // What is looked at, in thirds.
  static constexpr uint64_t kLengthNs = 90'000'000'000;
  static constexpr size_t kMostReadings = 1024;
  static constexpr double kBusy = 0.8;
  // The queue of the last third has so many requests more than that of the first, and so much more.
  static constexpr double kFewestMore = 5;
  static constexpr double kGrowth = 1.5;
  // Throughput is flat where no third has so many times that of another.
  static constexpr double kFlat = 1.15;

  Conditions Look(const Readings& readings);

 private:
  struct Third {
    double waiting = 0;   // mean
    double produced = 0;  // a second
  };

  void Take(const ServerReading& reading);
  std::optional<Third> ThirdAt(size_t index) const;

  std::deque<ServerReading> readings_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_QUEUE_WATCH_H_
