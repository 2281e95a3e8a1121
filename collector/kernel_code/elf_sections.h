// The sections of a 64-bit ELF file of this machine's byte order: libraries, programs and cubins.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_ELF_SECTIONS_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_ELF_SECTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/kernel_code/byte_source.h"

namespace utlz {

struct ElfSection {
  std::string_view name = {};  // in ElfSections::names
  uint32_t type = 0;
  uint32_t info = 0;
  uint64_t offset = 0;
  uint64_t size = 0;  // what lies in the file, all of it: empty where it is cut off
};

struct ElfSections {
  uint16_t machine = 0;
  std::vector<char> names = {};
  std::vector<ElfSection> sections = {};  // as many as the file says
};

// Absent where the bytes are no such file, or have more than 65,279 sections or 64 MiB of names.
std::optional<ElfSections> ReadElfSections(const ByteSource& source);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_ELF_SECTIONS_H_
