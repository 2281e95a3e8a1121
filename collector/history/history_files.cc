#include "collector/history/history_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>

#include "collector/unique_fd.h"
#include "proto/history_file.h"

namespace utlz {
namespace {

constexpr size_t kDigits = 10;

}  // namespace

std::string SegmentName(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "%010" PRIu64 "%s", number, kHistorySuffix);
  return name;
}

std::optional<uint64_t> SegmentNumber(std::string_view name) {
  if (name.size() != kDigits + sizeof(kHistorySuffix) - 1 ||
      name.substr(kDigits) != kHistorySuffix) {
    return std::nullopt;
  }
  uint64_t number = 0;
  for (const char digit : name.substr(0, kDigits)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

absl::StatusOr<std::vector<uint64_t>> ListSegments(int folder) {
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    const int error = errno;
    if (copy >= 0) close(copy);
    return absl::ErrnoToStatus(error, "cannot list the history");
  }
  std::vector<uint64_t> numbers;
  while (const dirent* entry = readdir(entries)) {
    if (const auto number = SegmentNumber(entry->d_name)) numbers.push_back(*number);
  }
  closedir(entries);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

absl::StatusOr<std::string> ReadSegment(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return absl::ErrnoToStatus(errno, "cannot read a segment");
  if (!S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) > kMaxHistorySegmentBytes) {
    return absl::FailedPreconditionError("it is no segment of a history");
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count =
        pread(file, bytes.data() + size, bytes.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, "cannot read a segment");
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace utlz
