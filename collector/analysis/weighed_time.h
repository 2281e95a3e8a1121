// A device's time as a list of parts with weights. utlz traces some steps and not others: a part of
// weight 3 was traced, and stands for two parts more that were not. Thread safety: const functions
// may run at once.
#ifndef UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_
#define UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_

#include <cstdint>
#include <vector>

#include "collector/run/device_state.h"

namespace utlz {

class WeighedTime {
 public:
  // Parts come in order of time. One that ends before it begins is left out: a program may mark
  // such times as a step.
  void Add(uint64_t start_ns, uint64_t end_ns, double weight);

  // What the device did in the parts, each times its weight. The launches, operations and longest
  // launch stay empty.
  StretchContent ContentOf(const ActivityTotals& ledger) const;
  // How long the parts are between two times, each times its weight.
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
