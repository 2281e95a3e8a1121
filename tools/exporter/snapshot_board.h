// Where the collector leaves its newest snapshot, and others find it. Nobody waits for a reader.
//
// Thread safety: every call from any thread.
#ifndef UTLZ_TOOLS_EXPORTER_SNAPSHOT_BOARD_H_
#define UTLZ_TOOLS_EXPORTER_SNAPSHOT_BOARD_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "collector/metrics/metrics_snapshot.h"

namespace utlz {

using SharedSnapshot = std::shared_ptr<const MetricsSnapshot>;

class SnapshotBoard {
 public:
  void Post(SharedSnapshot snapshot) {
    {
      const std::lock_guard lock(mutex_);
      latest_.swap(snapshot);
    }
    changed_.notify_all();
  }

  // Null before the first one.
  SharedSnapshot Latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

  // Waits until there is another one than `seen`; null once the board is closed and `seen` was the
  // last.
  SharedSnapshot WaitForOther(const SharedSnapshot& seen) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || latest_ != seen; });
    return latest_ == seen ? nullptr : latest_;
  }

  // No more will be posted.
  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  SharedSnapshot latest_;
  bool closed_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_SNAPSHOT_BOARD_H_
