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
  // A stretch that counts for less: by `share`, from 0 to 1, of what it would.
  struct Cut {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    double share = 1;
  };

  // Parts come in order of time. One that ends before it begins is left out: a program may mark
  // such times as a step.
  void Add(uint64_t start_ns, uint64_t end_ns, double weight);
  // All parts count so many times as often.
  void Multiply(double factor);
  // The same time less `cuts`, which come in order of time; where two overlap, the first one
  // counts.
  WeighedTime Without(const std::vector<Cut>& cuts) const;

  // What the device did in the parts, each times its weight. The launches, operations and longest
  // launch stay empty.
  StretchContent ContentOf(const ActivityTotals& ledger) const;
  // How long the parts are between two times, each times its weight.
  double LengthNs(uint64_t start_ns, uint64_t end_ns) const;
  // How often something counts that is spread over the time between two others: as often as the
  // parts there do on average, and not at all before the first and after the last part.
  double MeanWeight(uint64_t start_ns, uint64_t end_ns) const;

 private:
  struct Part {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    double weight = 1;
    double length_before_ns = 0;   // of all parts before it
    double weighed_before_ns = 0;  // the same, each times its weight
  };
  struct Length {
    double plain_ns = 0;
    double weighed_ns = 0;
  };

  Length Until(uint64_t time_ns) const;

  std::vector<Part> parts_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_WEIGHED_TIME_H_
