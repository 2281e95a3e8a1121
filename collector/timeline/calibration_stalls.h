// Idle time that is our own doing: setting the counters of ranges up holds a program at its next
// call of CUDA, and so does giving them back. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_CALIBRATION_STALLS_H_
#define UTLZ_COLLECTOR_TIMELINE_CALIBRATION_STALLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/timeline/activity_totals.h"
#include "proto/profile.pb.h"

namespace utlz {

class CalibrationStalls {
 public:
  static constexpr size_t kMaxSessions = 256;
  // The counters are given back as soon as the last range is read.
  static constexpr uint64_t kGiveBackNs = 200'000'000;

  void Add(const RangeBatch& batch);
  // Whether a gap lies where counters were set up, or begins where they were given back.
  bool Holds(const LongGap& gap) const;

 private:
  struct Session {
    uint64_t set_up_ns;  // when setting up began, at the earliest
    uint64_t first_ns;   // begin of the first range
    uint64_t last_ns;    // end of the last one
  };
  std::vector<Session> sessions_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_CALIBRATION_STALLS_H_
