// The SM clock that a device ran at while it worked, and how well that is known. Memory is bounded.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_SM_CLOCK_UNDER_LOAD_H_
#define UTLZ_COLLECTOR_COUNTERS_SM_CLOCK_UNDER_LOAD_H_

#include <cstdint>
#include <optional>

#include "collector/timeline/bounded_series.h"

namespace utlz {

class SmClockUnderLoad {
 public:
  // A span at `clock_hz` in which so much of the device was active: its `work`, in any unit, is the
  // span's weight.
  void Add(uint64_t start_ns, uint64_t end_ns, double clock_hz, double work);

  // Mean, weighted by work; nothing where none was seen.
  std::optional<double> hz() const;
  // One standard error of it, from how far 4, 8 and 16 stretches of what was seen differ: ± 1.96 of
  // it holds the clock in 95 %, however few they are. Nothing below four milliseconds with work.
  std::optional<double> error_hz() const;

 private:
  double weighted_hz_ = 0;
  double work_ = 0;
  // By time: work × clock, and work.
  BoundedSeries weighted_series_, work_series_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_SM_CLOCK_UNDER_LOAD_H_
