#include "tools/top/screen/screen.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "tools/top/screen/draw.h"
#include "tools/top/screen/history.h"
#include "tools/top/screen/keys.h"
#include "tools/top/screen/view.h"

namespace utlz::top {
namespace {

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

absl::Status RunScreen(const ScreenOptions& options, const std::function<Snapshot()>& take,
                       Terminal* terminal) {
  View view{.unicode = terminal->unicode(),
            .interval_seconds = options.interval_seconds,
            .user = geteuid()};
  History history;
  Snapshot snapshot;
  const auto interval_ns = static_cast<uint64_t>(options.interval_seconds * 1e9);
  uint64_t due_ns = NowNs();
  for (uint64_t tick = 0;;) {
    if (NowNs() >= due_ns) {
      if (options.ticks != 0 && tick == options.ticks) return absl::OkStatus();
      ++tick;
      snapshot = take();
      history.Add(snapshot);
      // Not in a burst, where the machine slept.
      due_ns = std::max(due_ns + interval_ns, NowNs());
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
