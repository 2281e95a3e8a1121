// The history on disk: a folder of segments, bounded as a whole. The oldest segments make room for
// new ones; which are the oldest, their numbers say, not the clock.
//
// Several processes may write to one folder: each has a segment of its own, locked. Where so many
// write that no room is left, a writer is refused.
//
// Crash safe: an interval is written whole by one call, survives the death of this process at once,
// and that of the machine after Sync(). The next writer of a segment overwrites an interval that
// was cut off. A full disk costs the intervals that could not be written, and no other.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_HISTORY_HISTORY_STORE_H_
#define UTLZ_COLLECTOR_HISTORY_HISTORY_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/history.pb.h"

namespace utlz {

class HistoryStore {
 public:
  static constexpr uint64_t kLeastBytes = 1 << 20;

  // Makes the folder where it is missing, for its owner alone; no segment yet. InvalidArgument:
  // fewer than kLeastBytes. Others as the kernel says.
  static absl::StatusOr<std::unique_ptr<HistoryStore>> Open(const std::string& folder,
                                                            uint64_t most_bytes);

  // ResourceExhausted: other writers have all the room. Others as the kernel says (disk full); the
  // next call tries again.
  absl::Status Append(const HistoryInterval& interval);

  absl::Status Sync();

 private:
  HistoryStore(std::string folder, UniqueFd folder_fd, uint64_t most_bytes);

  absl::Status OpenSegment();
  absl::Status LeaveRoom(const std::vector<uint64_t>& numbers, uint64_t most_bytes);
  absl::StatusOr<bool> GoOnWith(const std::string& name);
  absl::Status MakeSegment(uint64_t number);
  absl::Status Fail(const char* what) const;

  const std::string folder_;
  UniqueFd folder_fd_;
  const uint64_t most_bytes_;
  const uint64_t segment_bytes_;
  UniqueFd segment_;  // locked
  uint64_t size_ = 0;  // of what is whole in it
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_HISTORY_STORE_H_
