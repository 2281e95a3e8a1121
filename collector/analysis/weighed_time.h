// Parts of a device's time, of which each counts as often as somebody says: those that were traced
// stand for more or fewer of the others. Thread safety: const functions may run at once.
#ifndef UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_
#define UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_

#include <cstdint>
#include <vector>

#include "collector/run/device_state.h"

namespace utlz {

class WeighedTime {
 public:
  // After those that were added before. One that ends before it begins is left out: the times may
  // be those that a program marks as steps.
  void Add(uint64_t start_ns, uint64_t end_ns, double weight);

  // What a device did in that time. The launches, operations and longest launch stay empty.
  StretchContent ContentOf(const ActivityTotals& ledger) const;
  // Of a stretch, the length of what counts, as often as it does.
  double LengthNs(uint64_t start_ns, uint64_t end_ns) const;

 private:
  struct Part {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    double weight = 1;
  };

  std::vector<Part> parts_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_
