// What a session says of itself while it runs.
#ifndef UTLZ_COLLECTOR_SESSION_SESSION_PROGRESS_H_
#define UTLZ_COLLECTOR_SESSION_SESSION_PROGRESS_H_

#include <cstdint>

namespace utlz {

// How a session stands. What it counts may be a moment old.
struct SessionProgress {
  uint64_t agents = 0;       // that ever connected
  uint64_t live_agents = 0;  // and have not ended
  uint64_t launches = 0;     // of kernels, so far
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SESSION_PROGRESS_H_
