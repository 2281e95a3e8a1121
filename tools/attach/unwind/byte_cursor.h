// Reads numbers from bytes that are not trusted. After a read beyond the end, every further one
// gives zero and ok() is false.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_BYTE_CURSOR_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_BYTE_CURSOR_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/types/span.h"

namespace utlz::attach {

class ByteCursor {
 public:
  explicit ByteCursor(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  absl::Span<const uint8_t> Rest() const { return bytes_.subspan(position_); }

  template <typename Number>
  Number Read() {
    Number number = 0;
    if (bytes_.size() - position_ < sizeof(number)) {
      Fail();
      return 0;
    }
    std::memcpy(&number, bytes_.data() + position_, sizeof(number));
    position_ += sizeof(number);
    return number;
  }

  absl::Span<const uint8_t> Take(uint64_t size) {
    if (bytes_.size() - position_ < size) {
      Fail();
      return {};
    }
    position_ += size;
    return bytes_.subspan(position_ - size, size);
  }

  // LEB128, as DWARF writes numbers.
  uint64_t ReadUnsigned() {
    uint64_t number = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const auto byte = Read<uint8_t>();
      if (shift < 64) number |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return number;
  }
  int64_t ReadSigned() {
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (ok_ && (byte & 0x80) != 0) {
      byte = Read<uint8_t>();
      if (shift < 64) number |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) number |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(number);
  }

  // Text up to a NUL.
  std::string ReadText() {
    std::string text;
    while (const auto character = Read<uint8_t>()) text.push_back(static_cast<char>(character));
    return text;
  }

 private:
  void Fail() {
    ok_ = false;
    position_ = bytes_.size();
  }

  absl::Span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_BYTE_CURSOR_H_
