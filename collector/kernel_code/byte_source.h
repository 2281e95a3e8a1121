// Bytes that another process may have written and may still change: a file, or a part of memory.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_BYTE_SOURCE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace utlz {

class ByteSource {
 public:
  // A file. It is read where it is needed, never mapped: it may become shorter meanwhile. The
  // descriptor stays the caller's and must outlive this.
  static absl::StatusOr<ByteSource> OfFile(int fd);
  // Memory, which must outlive this.
  static ByteSource OfBytes(std::string_view bytes);

  uint64_t size() const { return size_; }

  // Reads `size` bytes from `offset` on. False where there are not so many.
  bool Read(uint64_t offset, size_t size, void* to) const;

  template <typename Value>
  bool ReadValue(uint64_t offset, Value* value) const {
    return Read(offset, sizeof(*value), value);
  }

 private:
  ByteSource(int fd, std::string_view bytes, uint64_t size) : fd_(fd), bytes_(bytes), size_(size) {}

  int fd_;
  std::string_view bytes_;
  uint64_t size_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_BYTE_SOURCE_H_
