// What the fake's opaque images hold. A counter-data image is read by position alone, so that
// clients may copy it.
#ifndef UTLZ_TESTS_FAKES_COUNTER_IMAGE_H_
#define UTLZ_TESTS_FAKES_COUNTER_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {

inline constexpr uint64_t kCounterImageMagic = 0x454741474d495443;
inline constexpr uint64_t kConfigImageMagic = 0x454741474d494643;

// One PM sample or one range.
struct CounterEntry {
  uint64_t start_ns;
  uint64_t end_ns;
  Totals totals;
};

struct CounterImageHeader {
  uint64_t magic;
  uint64_t capacity;
  uint64_t used;
};

struct ConfigImage {
  uint64_t magic;
  uint64_t passes;
  uint64_t metrics;
};

inline size_t CounterImageBytes(uint64_t capacity) {
  return sizeof(CounterImageHeader) + capacity * sizeof(CounterEntry);
}

inline bool ReadHeader(const uint8_t* image, size_t bytes, CounterImageHeader* header) {
  if (image == nullptr || bytes < sizeof(*header)) return false;
  std::memcpy(header, image, sizeof(*header));
  return header->magic == kCounterImageMagic && CounterImageBytes(header->capacity) <= bytes;
}

inline bool ReadEntry(const uint8_t* image, size_t bytes, uint64_t index, CounterEntry* entry) {
  CounterImageHeader header;
  if (!ReadHeader(image, bytes, &header) || index >= header.used) return false;
  std::memcpy(entry, image + CounterImageBytes(index), sizeof(*entry));
  return true;
}

// False once the image is full.
inline bool AppendEntry(uint8_t* image, size_t bytes, const CounterEntry& entry) {
  CounterImageHeader header;
  if (!ReadHeader(image, bytes, &header) || header.used == header.capacity) return false;
  std::memcpy(image + CounterImageBytes(header.used), &entry, sizeof(entry));
  ++header.used;
  std::memcpy(image, &header, sizeof(header));
  return true;
}

inline void InitializeImage(uint8_t* image, size_t bytes) {
  const CounterImageHeader header = {
      kCounterImageMagic, (bytes - sizeof(CounterImageHeader)) / sizeof(CounterEntry), 0};
  std::memcpy(image, &header, sizeof(header));
}

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_COUNTER_IMAGE_H_
