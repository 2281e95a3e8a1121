// A process's memory made of a few buffers.
#ifndef UTLZ_TESTS_UNIT_ATTACH_FAKE_MEMORY_H_
#define UTLZ_TESTS_UNIT_ATTACH_FAKE_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

class FakeMemory final : public MemoryReader {
 public:
  void Put(uint64_t address, std::vector<uint8_t> bytes) { parts_[address] = std::move(bytes); }

  template <typename Value>
  void PutValue(uint64_t address, const Value& value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    Put(address, std::vector<uint8_t>(bytes, bytes + sizeof(value)));
  }

  size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const override {
    const auto after = parts_.upper_bound(address);
    if (after == parts_.begin()) return 0;
    const auto& [start, part] = *std::prev(after);
    const uint64_t offset = address - start;
    if (offset >= part.size()) return 0;
    const size_t count = std::min<size_t>(bytes.size(), part.size() - offset);
    std::memcpy(bytes.data(), part.data() + offset, count);
    return count;
  }

 private:
  std::map<uint64_t, std::vector<uint8_t>> parts_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_UNIT_ATTACH_FAKE_MEMORY_H_
