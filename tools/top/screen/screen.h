// The full screen of `utlz top`: takes snapshots as they are due, shows them, obeys keys.
#ifndef UTLZ_TOOLS_TOP_SCREEN_SCREEN_H_
#define UTLZ_TOOLS_TOP_SCREEN_SCREEN_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "tools/top/screen/terminal.h"
#include "tools/top/snapshot.h"

namespace utlz::top {

struct ScreenOptions {
  double interval_seconds = 1;
  uint64_t ticks = 0;  // 0: until a key ends it
};

// Until a key ends it, or the ticks are over. Unavailable: the terminal is gone.
absl::Status RunScreen(const ScreenOptions& options, const std::function<Snapshot()>& take,
                       Terminal* terminal);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_SCREEN_SCREEN_H_
