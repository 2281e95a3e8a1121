// Reading and writing another process's memory. No stop is needed, and nothing read is trusted.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_REMOTE_MEMORY_H_
#define UTLZ_TOOLS_ATTACH_TARGET_REMOTE_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"

namespace utlz::attach {

// Where an ELF image or a stack is read from: a process, or a test's buffer.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  // How many bytes from `address` on could be read into `bytes`; reading stops at the first page
  // that cannot be.
  virtual size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const = 0;

  bool Read(uint64_t address, absl::Span<uint8_t> bytes) const {
    return ReadSome(address, bytes) == bytes.size();
  }
  template <typename Value>
  std::optional<Value> ReadValue(uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value;
    if (!Read(address, absl::MakeSpan(reinterpret_cast<uint8_t*>(&value), sizeof(value)))) {
      return std::nullopt;
    }
    return value;
  }
  // Bytes up to a NUL, at most `max_bytes`.
  std::string ReadText(uint64_t address, size_t max_bytes) const;
};

class RemoteMemory final : public MemoryReader {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}
  size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const override;
  bool Write(uint64_t address, absl::Span<const uint8_t> bytes) const;

 private:
  pid_t pid_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_REMOTE_MEMORY_H_
