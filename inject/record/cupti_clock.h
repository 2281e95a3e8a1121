// CUPTI's times as times of CLOCK_REALTIME, which they are by default. Another client can give
// CUPTI a clock of its own, and leave it there: torch.profiler gives it the processor's cycle
// counter. Its rate is then measured, from pairs of readings; until it is known, times are not.
//
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_CUPTI_CLOCK_H_
#define UTLZ_INJECT_RECORD_CUPTI_CLOCK_H_

#include <cstdint>

#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

class CuptiClock {
 public:
  // The same moment on both clocks; CUPTI's in its own ticks. To be called many times a second.
  void Pair(uint64_t cupti_ticks, uint64_t realtime_ns);

  // False while another client's clock has not been measured yet.
  bool Known() const { return !foreign_ || ns_per_tick_ > 0; }
  // Nanoseconds of CLOCK_REALTIME; 0 where not Known(), unless it is a time of before that clock.
  uint64_t ToRealtime(uint64_t cupti_ticks) const {
    return foreign_ ? Converted(cupti_ticks) : cupti_ticks;
  }
  // Does so with the times inside a record; what is not known becomes 0.
  void ConvertTimes(cupti::RecordHead* record) const;
  // Whether ConvertTimes() has anything to do.
  bool foreign() const { return foreign_; }

 private:
  static constexpr uint64_t kSecondNs = 1'000'000'000;
  // CUPTI's own clock is read within microseconds of ours; a descheduled thread takes longer.
  static constexpr uint64_t kSameClockNs = kSecondNs;
  // A shorter time between pairs says too little about the rate.
  static constexpr uint64_t kShortestNs = 10'000'000;

  uint64_t Converted(uint64_t cupti_ticks) const;
  void BeginAnew(uint64_t cupti_ticks, uint64_t realtime_ns);

  bool foreign_ = false;
  double ns_per_tick_ = 0;  // 0: not known
  // The first pair of this clock, for its rate, and the latest, from which times are reckoned.
  uint64_t first_ticks_ = 0, first_ns_ = 0;
  uint64_t latest_ticks_ = 0, latest_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_CUPTI_CLOCK_H_
