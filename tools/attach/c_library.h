// The target's C library and dynamic loader: where dlopen is, and which code must not be on the
// stack of a thread that is to call it.
#ifndef UTLZ_TOOLS_ATTACH_C_LIBRARY_H_
#define UTLZ_TOOLS_ATTACH_C_LIBRARY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attach/target/elf_image.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {

struct CLibrary {
  int glibc_minor_version = 0;  // of 2.N
  // Absolute addresses of functions.
  uint64_t dlopen = 0;
  uint64_t dlerror = 0;
  uint64_t errno_location = 0;
  // The dynamic loader's code. A return address into it says that the thread may hold its lock.
  std::vector<AddressRange> loader_code;
  // The allocator's code, its private functions included.
  std::vector<AddressRange> allocator_code;
};

// Refuses, with a sentence and a remedy, what cannot be attached to: static programs, musl, glibc
// before 2.28, glibc before 2.34 whose libdl.so.2 is not loaded, 32-bit programs, and other
// architectures than this tool's.
absl::StatusOr<CLibrary> FindCLibrary(const MemoryMap& map, const MemoryReader& memory);

// The part of a C library that its allocator takes. Its private functions have no names in a
// stripped library, but lie in one object file with the public ones: so the range runs from the end
// of the last foreign function before the public ones to the start of the first one after them.
// Each run of neighbouring allocator functions gives one range.
std::vector<AddressRange> AllocatorRanges(const ElfImage& library);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_C_LIBRARY_H_
