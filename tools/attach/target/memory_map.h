// What is mapped where in a process: /proc/PID/maps.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_MEMORY_MAP_H_
#define UTLZ_TOOLS_ATTACH_TARGET_MEMORY_MAP_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz::attach {

// Addresses [start, end).
struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool Contains(uint64_t address) const { return address >= start && address < end; }
  bool operator==(const AddressRange&) const = default;
};

struct Mapping {
  AddressRange range;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool is_private = false;  // what is written stays in this process
  uint64_t file_offset_bytes = 0;
  std::string device;  // "major:minor"
  uint64_t inode = 0;
  std::string path;  // as the kernel writes it, without " (deleted)"; empty for anonymous memory
  std::string BaseName() const;
};

class MemoryMap {
 public:
  // Reads /proc/PID/task/TID/maps, at most 64 MiB of it. An error if the process has no memory
  // (kernel thread, zombie) or may not be read.
  static absl::StatusOr<MemoryMap> Read(pid_t pid);
  // Lines that cannot be read are left out. Exposed for tests.
  static MemoryMap Parse(const std::string& text);

  const std::vector<Mapping>& mappings() const { return mappings_; }
  const Mapping* Find(uint64_t address) const;
  // All mappings of the file that `mapping` maps.
  std::vector<const Mapping*> SameFile(const Mapping& mapping) const;
  // The executable ranges of that file.
  std::vector<AddressRange> ExecutableRanges(const Mapping& mapping) const;

 private:
  std::vector<Mapping> mappings_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_MEMORY_MAP_H_
