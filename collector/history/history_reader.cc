#include "collector/history/history_reader.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "collector/history/history_files.h"
#include "collector/history/segment_scan.h"
#include "collector/unique_fd.h"

namespace utlz {

absl::StatusOr<HistoryReading> ReadHistory(
    const std::string& folder, const std::function<void(const HistoryInterval& interval)>& sink) {
  const UniqueFd folder_fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the history ", folder));
  }
  const absl::StatusOr<std::vector<uint64_t>> numbers = ListSegments(folder_fd.get());
  if (!numbers.ok()) return numbers.status();
  HistoryReading reading;
  for (const uint64_t number : *numbers) {
    const UniqueFd file(openat(folder_fd.get(), SegmentName(number).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid() && errno == ENOENT) continue;  // it made room meanwhile
    const absl::StatusOr<std::string> bytes =
        file.valid() ? ReadSegment(file.get())
                     : absl::StatusOr<std::string>(absl::UnavailableError("not open"));
    const SegmentScan scan = bytes.ok() ? ScanSegment(*bytes, sink) : SegmentScan();
    ++(scan.is_segment ? reading.segments : reading.unreadable_segments);
    reading.unreadable_bytes += scan.unreadable_bytes;
  }
  return reading;
}

}  // namespace utlz
