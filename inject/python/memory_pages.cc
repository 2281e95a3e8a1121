#include "inject/python/memory_pages.h"

#include <algorithm>
#include <cstring>

#include "inject/base/memory.h"
#include "inject/python/python_memory.h"

namespace utlz::agent {

bool MemoryPages::Create() {
  places_ = MapArray<Place>(kPages);
  copies_ = MapArray<uint8_t>(kPages * kPageBytes);
  return places_ != nullptr && copies_ != nullptr;
}

bool MemoryPages::Copy(uint64_t address, void* to, uint64_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const uint64_t offset = address % kPageBytes;
    const uint64_t taken = std::min(bytes, kPageBytes - offset);
    const uint8_t* const copy = PageOf(address / kPageBytes);
    if (copy == nullptr) return false;
    std::memcpy(out, copy + offset, taken);
    address += taken;
    out += taken;
    bytes -= taken;
  }
  return true;
}

const uint8_t* MemoryPages::PageOf(uint64_t page) {
  const uint64_t index = page % kPages;
  Place& place = places_[index];
  uint8_t* const copy = copies_ + index * kPageBytes;
  if (place.generation == generation_ && place.page == page) return copy;
  place.generation = 0;
  if (!CopyMemory(page * kPageBytes, copy, kPageBytes)) return nullptr;
  place = {page, generation_};
  return copy;
}

}  // namespace utlz::agent
