#include "collector/kernel_code/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"

namespace utlz {

absl::StatusOr<ByteSource> ByteSource::OfFile(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, "a library cannot be looked at");
  if (!S_ISREG(status.st_mode)) return absl::InvalidArgumentError("a library is no regular file");
  return ByteSource(fd, {}, static_cast<uint64_t>(status.st_size));
}

ByteSource ByteSource::OfBytes(std::string_view bytes) {
  return ByteSource(-1, bytes, bytes.size());
}

bool ByteSource::Read(uint64_t offset, size_t size, void* to) const {
  if (size > size_ || offset > size_ - size) return false;
  if (size == 0) return true;
  if (fd_ < 0) {
    std::memcpy(to, bytes_.data() + offset, size);
    return true;
  }
  for (size_t done = 0; done < size;) {
    const ssize_t got =
        pread(fd_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace utlz
