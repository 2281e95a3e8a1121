#include "collector/history/history_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/files/state_folder.h"
#include "collector/history/history_files.h"
#include "collector/history/segment_scan.h"
#include "proto/frame.h"
#include "proto/history_file.h"

namespace utlz {
namespace {

constexpr char kLockName[] = "lock";
// A store is so many segments: each time that room is made, one of them goes.
constexpr uint64_t kSegments = 16;
// Of the newest segments, which may have room left.
constexpr size_t kSegmentsLookedAt = 8;

bool LockNow(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

UniqueFd OpenIn(int folder, const std::string& name, int flags) {
  return UniqueFd(openat(folder, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
}

bool WriteAt(int file, const std::string& bytes, uint64_t offset) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = pwrite(file, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::string FrameOf(const std::string& payload) {
  FrameHeader header = {};
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.type = kHistoryIntervalFrame;
  header.checksum = FrameChecksum(header, payload.data());
  std::string frame(reinterpret_cast<const char*>(&header), sizeof(header));
  frame += payload;
  frame.resize(FrameBytes(header.payload_bytes), '\0');
  return frame;
}

// What the segments take or may come to take, the oldest that nobody writes removed until it is no
// more than `most_bytes`.
uint64_t MakeRoom(int folder, const std::vector<uint64_t>& numbers, uint64_t segment_bytes,
                  uint64_t most_bytes) {
  struct Segment {
    std::string name;
    uint64_t bytes = 0;
    bool is_free = false;
  };
  std::vector<Segment> segments;
  uint64_t total_bytes = 0;
  for (const uint64_t number : numbers) {
    Segment segment{.name = SegmentName(number)};
    const UniqueFd file = OpenIn(folder, segment.name, O_RDONLY);
    struct stat status = {};
    if (!file.valid() || fstat(file.get(), &status) != 0) continue;
    segment.is_free = LockNow(file.get());
    const auto size = static_cast<uint64_t>(status.st_size);
    segment.bytes = segment.is_free ? size : std::max(size, segment_bytes);
    total_bytes += segment.bytes;
    segments.push_back(std::move(segment));
  }
  for (const Segment& segment : segments) {
    if (total_bytes <= most_bytes) break;
    if (segment.is_free && unlinkat(folder, segment.name.c_str(), 0) == 0) {
      total_bytes -= segment.bytes;
    }
  }
  return total_bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HistoryStore>> HistoryStore::Open(const std::string& folder,
                                                                 uint64_t most_bytes) {
  if (most_bytes < kLeastBytes) {
    return absl::InvalidArgumentError("a history needs at least 1 MiB (--history-size)");
  }
  if (absl::Status made = MakeFolders(folder); !made.ok()) return made;
  UniqueFd folder_fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the history ", folder));
  }
  // Whether it may be written, before the job begins.
  const UniqueFd lock = OpenIn(folder_fd.get(), kLockName, O_RDWR | O_CREAT);
  if (!lock.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write to the history ", folder));
  }
  return std::unique_ptr<HistoryStore>(
      new HistoryStore(folder, std::move(folder_fd), most_bytes));
}

HistoryStore::HistoryStore(std::string folder, UniqueFd folder_fd, uint64_t most_bytes)
    : folder_(std::move(folder)),
      folder_fd_(std::move(folder_fd)),
      most_bytes_(most_bytes),
      segment_bytes_(std::min(most_bytes / kSegments, kMaxHistorySegmentBytes)) {}

absl::Status HistoryStore::Append(const HistoryInterval& interval) {
  const std::string payload = interval.SerializeAsString();
  if (payload.size() > kMaxHistoryPayloadBytes) {
    return absl::InvalidArgumentError("an interval of the history is too large");
  }
  const std::string frame = FrameOf(payload);
  if (segment_.valid() && size_ + frame.size() > segment_bytes_) {
    fdatasync(segment_.get());
    segment_.Reset();
  }
  if (!segment_.valid()) {
    if (absl::Status opened = OpenSegment(); !opened.ok()) return opened;
    if (size_ + frame.size() > segment_bytes_) {
      return absl::InvalidArgumentError("an interval is larger than a segment of the history");
    }
  }
  if (WriteAt(segment_.get(), frame, size_)) {
    size_ += frame.size();
    return absl::OkStatus();
  }
  const absl::Status failure = Fail("cannot write to the history");
  // What was written in part may be in the way of nothing.
  if (ftruncate(segment_.get(), static_cast<off_t>(size_)) != 0) segment_.Reset();
  return failure;
}

absl::Status HistoryStore::Sync() {
  if (!segment_.valid() || fdatasync(segment_.get()) == 0) return absl::OkStatus();
  return Fail("cannot write the history to the disk");
}

absl::Status HistoryStore::OpenSegment() {
  const UniqueFd lock = OpenIn(folder_fd_.get(), kLockName, O_RDWR | O_CREAT);
  // Others hold it for as long as they look for a segment.
  if (!lock.valid() || flock(lock.get(), LOCK_EX) != 0) return Fail("cannot lock the history");
  const absl::StatusOr<std::vector<uint64_t>> numbers = ListSegments(folder_fd_.get());
  if (!numbers.ok()) return numbers.status();
  const size_t looked_at = std::min(numbers->size(), kSegmentsLookedAt);
  for (size_t i = 0; i < looked_at; ++i) {
    const absl::StatusOr<bool> goes_on = GoOnWith(SegmentName((*numbers)[numbers->size() - 1 - i]));
    if (!goes_on.ok()) return goes_on.status();
    // What it may grow by counts, as of any that is being written.
    if (*goes_on) return LeaveRoom(*numbers, most_bytes_);
  }
  if (absl::Status room = LeaveRoom(*numbers, most_bytes_ - segment_bytes_); !room.ok())
    return room;
  return MakeSegment(numbers->empty() ? 1 : numbers->back() + 1);
}

absl::Status HistoryStore::LeaveRoom(const std::vector<uint64_t>& numbers, uint64_t most_bytes) {
  if (MakeRoom(folder_fd_.get(), numbers, segment_bytes_, most_bytes) <= most_bytes) {
    return absl::OkStatus();
  }
  segment_.Reset();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the history ", folder_, " is full of segments that others write: raise --history-size"));
}

// What a crash has cut off is removed.
absl::StatusOr<bool> HistoryStore::GoOnWith(const std::string& name) {
  UniqueFd file = OpenIn(folder_fd_.get(), name, O_RDWR);
  if (!file.valid() || !LockNow(file.get())) return false;
  const absl::StatusOr<std::string> bytes = ReadSegment(file.get());
  if (!bytes.ok()) return false;
  const SegmentScan scan = ScanSegment(*bytes, [](const HistoryInterval&) {});
  // One that is nearly full would be left again at once.
  if (!scan.is_segment || scan.whole_bytes > segment_bytes_ / 2) return false;
  if (ftruncate(file.get(), static_cast<off_t>(scan.whole_bytes)) != 0) return false;
  segment_ = std::move(file);
  size_ = scan.whole_bytes;
  return true;
}

absl::Status HistoryStore::MakeSegment(uint64_t number) {
  const std::string name = SegmentName(number);
  UniqueFd file = OpenIn(folder_fd_.get(), name, O_RDWR | O_CREAT | O_EXCL);
  if (!file.valid() || !LockNow(file.get())) return Fail("cannot make a segment of the history");
  HistoryFileHeader head = {};
  std::copy(std::begin(kHistoryMagic), std::end(kHistoryMagic), head.magic);
  head.version = kHistoryVersion;
  const std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  if (!WriteAt(file.get(), bytes, 0)) {
    const absl::Status failure = Fail("cannot make a segment of the history");
    unlinkat(folder_fd_.get(), name.c_str(), 0);
    return failure;
  }
  segment_ = std::move(file);
  size_ = bytes.size();
  return absl::OkStatus();
}

absl::Status HistoryStore::Fail(const char* what) const {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", folder_));
}

}  // namespace utlz
