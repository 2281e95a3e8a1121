// Writes protobuf's wire format into a bounded buffer that the caller owns. No allocation, no
// exceptions: what does not fit sets `overflowed` and is left out, and the caller drops the
// message.
#ifndef UTLZ_INJECT_BASE_PB_WRITER_H_
#define UTLZ_INJECT_BASE_PB_WRITER_H_

#include <cstdint>
#include <cstring>

namespace utlz::agent {

inline constexpr uint32_t kMostVarintBytes = 10;

inline constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

// A bounded run of bytes; one column of a batch, or a whole message.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(uint8_t* data, uint32_t capacity) : data_(data), capacity_(capacity) {}

  void Clear() {
    size_ = 0;
    overflowed_ = false;
  }
  void Varint(uint64_t value) {
    if (size_ + kMostVarintBytes > capacity_) {
      overflowed_ = true;
      return;
    }
    if (value < 1u << 14) {
      // Without a branch, as residuals of one and of two bytes come in no order. What is beyond the
      // value is overwritten by the next.
      const bool two = value >= 0x80;
      const auto bytes =
          static_cast<uint16_t>((value & 0x7f) | uint64_t{two} << 7 | value >> 7 << 8);
      std::memcpy(data_ + size_, &bytes, sizeof bytes);
      size_ += 1 + uint32_t{two};
      return;
    }
    LongVarint(value);
  }
  void Raw(const void* bytes, uint32_t count) {
    if (count > capacity_ - size_) {
      overflowed_ = true;
      return;
    }
    if (count != 0) std::memcpy(data_ + size_, bytes, count);
    size_ += count;
  }
  const uint8_t* data() const { return data_; }
  uint32_t size() const { return size_; }
  bool overflowed() const { return overflowed_; }

 private:
  void LongVarint(uint64_t value) {
    while (value >= 0x80) {
      data_[size_++] = static_cast<uint8_t>(value) | 0x80;
      value >>= 7;
    }
    data_[size_++] = static_cast<uint8_t>(value);
  }

  uint8_t* data_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t size_ = 0;
  bool overflowed_ = false;
};

// Fields of a message, appended to a ByteBuffer. Zero and empty are left out, as proto3 does.
class PbWriter {
 public:
  explicit PbWriter(ByteBuffer* out) : out_(out) {}

  void Uint(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Tag(field, 0);
    out_->Varint(value);
  }
  // For `optional` fields, where zero is a value.
  void UintAlways(uint32_t field, uint64_t value) {
    Tag(field, 0);
    out_->Varint(value);
  }
  void Fixed64(uint32_t field, uint64_t value) {
    Tag(field, 1);
    out_->Raw(&value, 8);
  }
  void Double(uint32_t field, double value) {
    Tag(field, 1);
    out_->Raw(&value, 8);
  }
  void Bytes(uint32_t field, const void* bytes, uint32_t count) {
    if (count == 0) return;
    BytesAlways(field, bytes, count);
  }
  // For elements of repeated fields, where an empty one counts.
  void BytesAlways(uint32_t field, const void* bytes, uint32_t count) {
    Tag(field, 2);
    out_->Varint(count);
    out_->Raw(bytes, count);
  }
  void String(uint32_t field, const char* text) {
    if (text != nullptr) Bytes(field, text, static_cast<uint32_t>(std::strlen(text)));
  }
  // A packed column or an embedded message.
  void Buffer(uint32_t field, const ByteBuffer& buffer) {
    Bytes(field, buffer.data(), buffer.size());
  }

 private:
  void Tag(uint32_t field, uint32_t wire_type) { out_->Varint(field << 3 | wire_type); }
  ByteBuffer* out_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_PB_WRITER_H_
