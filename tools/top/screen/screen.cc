#include "tools/top/screen/screen.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "collector/clocks.h"
#include "tools/top/screen/draw.h"
#include "tools/top/screen/history.h"
#include "tools/top/screen/keys.h"
#include "tools/top/screen/view.h"

namespace utlz::top {

absl::Status RunScreen(const ScreenOptions& options, const std::function<Snapshot()>& take,
                       Terminal* terminal) {
  View view{.unicode = terminal->unicode(),
            .interval_seconds = options.interval_seconds,
            .user = geteuid()};
  History history;
  Snapshot snapshot;
  const auto interval_ns = static_cast<uint64_t>(options.interval_seconds * 1e9);
  uint64_t due_ns = MonotonicNs();
  for (uint64_t tick = 0;;) {
    if (MonotonicNs() >= due_ns) {
      if (options.ticks != 0 && tick == options.ticks) return absl::OkStatus();
      ++tick;
      snapshot = take();
      history.Add(snapshot);
      // Not in a burst, where the machine slept.
      due_ns = std::max(due_ns + interval_ns, MonotonicNs());
    }
    view.width = terminal->width();
    view.height = terminal->height();
    terminal->Show(Draw(snapshot, history, &view));
    const absl::StatusOr<std::optional<int>> key = terminal->ReadKey(due_ns);
    if (!key.ok()) return key.status();
    if (*key && !HandleKey(**key, snapshot, &view)) return absl::OkStatus();
  }
}

}  // namespace utlz::top
