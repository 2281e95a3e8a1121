// Another process's memory, of which code and its descriptions are read once: what was looked at
// while the threads ran takes no time when one of them stands still.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_CODE_MEMORY_H_
#define UTLZ_TOOLS_ATTACH_TARGET_CODE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

// Keeps at most 16 MiB: pages of files that the map says nobody may write. Everything else is read
// anew each time. For one thread at a time.
class CodeMemory final : public MemoryReader {
 public:
  // Both must outlive this object.
  CodeMemory(const MemoryReader& memory, const MemoryMap& map) : memory_(memory), map_(map) {}
  size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const override;

 private:
  // The page at `start`, or null if it cannot be kept or read whole.
  const std::vector<uint8_t>* PageAt(uint64_t start) const;

  const MemoryReader& memory_;
  const MemoryMap& map_;
  mutable std::unordered_map<uint64_t, std::vector<uint8_t>> pages_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_CODE_MEMORY_H_
