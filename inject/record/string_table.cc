#include "inject/record/string_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {
constexpr uint32_t kSlots = StringTable::kMaxStrings * 2;
}

bool StringTable::Create() {
  arena_ = MapArray<char>(kArenaBytes);
  offsets_ = MapArray<uint32_t>(kMaxStrings + 1);
  slots_ = MapArray<uint32_t>(kSlots);
  if (arena_ == nullptr || offsets_ == nullptr || slots_ == nullptr) return false;
  Intern("");
  return true;
}

void StringTable::Clear() {
  ClearArray(arena_, kArenaBytes);
  ClearArray(offsets_, kMaxStrings + 1);
  ClearArray(slots_, kSlots);
  count_ = 0;
  Intern("");
}

bool StringTable::Equals(uint32_t id, const char* text) const {
  if (text == nullptr) return id == 0;
  const uint32_t length = Length(id);
  // strncmp stops at the end of `text`, so nothing is read beyond it.
  if (std::strncmp(Text(id), text, length) != 0) return false;
  return text[length] == 0 || length == kMaxStringBytes;
}

uint32_t StringTable::Add(const char* text, uint32_t length) {
  const uint32_t offset = offsets_[count_];
  if (count_ >= kMaxStrings || offset + uint64_t{length} + 1 > kArenaBytes) return 0;
  std::memcpy(arena_ + offset, text, length);
  arena_[offset + length] = 0;
  offsets_[count_ + 1] = offset + length + 1;
  return count_++;
}

uint32_t StringTable::Intern(const char* text) {
  if (text == nullptr) return 0;
  const auto length = static_cast<uint32_t>(strnlen(text, kMaxStringBytes));
  auto slot = static_cast<uint32_t>(XXH3_64bits(text, length)) % kSlots;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (Length(id) == length && std::memcmp(Text(id), text, length) == 0) return id;
    slot = (slot + 1) % kSlots;
  }
  const uint32_t before = count_;
  const uint32_t id = Add(text, length);
  if (count_ != before) slots_[slot] = id + 1;
  return id;
}

}  // namespace utlz::agent
