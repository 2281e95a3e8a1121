// Names seen in activity records, interned: identifier 0 is the empty string, identifiers count up.
// CUPTI's name pointers may be reused after a module is unloaded, so contents are compared, not
// pointers. Guarded by the agent's encode lock. Lives in memory straight from the kernel.
#ifndef UTLZ_INJECT_RECORD_STRING_TABLE_H_
#define UTLZ_INJECT_RECORD_STRING_TABLE_H_

#include <cstdint>

namespace utlz::agent {

class StringTable {
 public:
  static constexpr uint32_t kMaxStringBytes = 16 << 10;
  static constexpr uint32_t kMaxStrings = 1 << 18;
  static constexpr uint64_t kArenaBytes = 64 << 20;  // address space; pages come as they are used

  bool Create();
  // Empty again, its memory given back.
  void Clear();
  // The identifier of `text` (null reads as empty), cut at kMaxStringBytes. Once the table is full,
  // new strings get identifier 0.
  uint32_t Intern(const char* text);
  // Text and length of an interned string; the text ends in a zero byte.
  const char* Text(uint32_t id) const { return arena_ + offsets_[id]; }
  uint32_t Length(uint32_t id) const { return offsets_[id + 1] - offsets_[id] - 1; }
  // Whether `text` is exactly the interned string `id`.
  bool Equals(uint32_t id, const char* text) const;
  uint32_t size() const { return count_; }

 private:
  uint32_t Add(const char* text, uint32_t length);

  char* arena_ = nullptr;
  uint32_t* offsets_ = nullptr;  // count_ + 1 of them
  uint32_t* slots_ = nullptr;    // open addressing; identifier + 1, 0 = free
  uint32_t count_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_STRING_TABLE_H_
