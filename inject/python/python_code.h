// What a code object says of itself: file, function, first line, lines of its instructions. Read
// off the launch path, by a thread that does not own it: it may be gone, so it is copied by the
// kernel, which refuses what is not mapped, and checked.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_CODE_H_
#define UTLZ_INJECT_PYTHON_PYTHON_CODE_H_

#include <cstdint>

#include "inject/python/memory_pages.h"
#include "inject/python/python_layout.h"

namespace utlz::agent {

struct PythonCode {
  static constexpr uint32_t kMostFileBytes = 1024;
  static constexpr uint32_t kMostNameBytes = 256;
  static constexpr uint32_t kMostLineTableBytes = 64 << 10;

  // UTF-8 with a zero byte at the end; of a longer file name its end, of a longer name its begin.
  char file[kMostFileBytes];
  char name[kMostNameBytes];  // qualified
  int32_t first_line;
  uint32_t instruction_bytes;
  uint32_t line_table_bytes;  // 0: there is none, or one that is longer than kMostLineTableBytes
  uint8_t line_table[kMostLineTableBytes];
};

// False where `code` is no code object (any more).
bool ReadPythonCode(const PythonLayout& layout, MemoryPages* memory, uint64_t code,
                    PythonCode* read);

// The line of the instruction at this offset in bytes from the first one; 0 where it has none.
int32_t LineOfInstruction(const PythonCode& code, uint64_t offset_bytes);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_CODE_H_
