// Whether the kernels of a process are recorded now, as its agent says. A program whose launches
// cost it time may be recorded from its start and then never again (decision 0027): what is sampled
// later tells nothing of its kernels.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_RECORDS_WATCH_H_
#define UTLZ_COLLECTOR_SESSION_RECORDS_WATCH_H_

#include <cstdint>
#include <string_view>

#include "proto/profile.pb.h"

namespace utlz {

enum class RecordsNow {
  kInWindows,   // or nobody knows
  kThroughout,  // since the start, without a pause; each moment may be the last
  kNone,        // perhaps for good
};

class RecordsWatch {
 public:
  // A frame of the agent. What is not of interest, or not valid, is passed over.
  void Consume(uint16_t type, std::string_view payload);

  RecordsNow now() const;
  // The agent traces in no window, perhaps for good, whatever its account holds.
  bool ended() const { return state_ == RECORDS_ENDED; }

 private:
  RecordsState state_ = RECORDS_STATE_UNKNOWN;
  bool paused_ = false;  // a trace window ended; states are said a second later
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_RECORDS_WATCH_H_
