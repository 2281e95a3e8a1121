// The dynamic symbols of a shared object as it lies in a process's memory. Reading memory rather
// than the file needs no access to the process's file system and is right also when the file has
// been replaced since. Everything read is bounded and checked: the process may have overwritten it.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_ELF_IMAGE_H_
#define UTLZ_TOOLS_ATTACH_TARGET_ELF_IMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

// First bytes of an ELF file: what a process is made of.
struct ElfIdentity {
  bool is_64_bit = false;
  uint16_t machine = 0;  // EM_*
};
// Absent where the memory does not hold an ELF header.
std::optional<ElfIdentity> ReadElfIdentity(const MemoryReader& memory, uint64_t base_address);

class ElfImage {
 public:
  struct Function {
    std::string name;
    AddressRange range;  // absolute; empty where the symbol has no size
  };

  // `base_address` is where the file's offset 0 is mapped.
  static absl::StatusOr<ElfImage> Read(const MemoryReader& memory, uint64_t base_address);

  // Defined functions, by ascending address.
  const std::vector<Function>& functions() const { return functions_; }
  // Absolute address of an exported function.
  std::optional<uint64_t> FindFunction(const std::string& name) const;
  // Highest N of the "GLIBC_2.N" version names that a C library defines.
  std::optional<int> HighestGlibcMinorVersion() const;

 private:
  std::vector<Function> functions_;
  std::string strings_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_ELF_IMAGE_H_
