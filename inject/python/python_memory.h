// Copies of the interpreter's memory, for a thread that does not own it: the kernel does them,
// which refuses what is not mapped. System calls: never on a launch path.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_
#define UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_

#include <cstdint>

#include "inject/python/python_layout.h"

namespace utlz::agent {

// False where not all of it could be read.
bool CopyMemory(uint64_t address, void* to, uint64_t bytes);

template <typename T>
bool CopyValue(uint64_t address, T* value) {
  return CopyMemory(address, value, sizeof(T));
}

// The characters of a str in UTF-8, with a zero byte at the end; of what is longer than `out` the
// begin, or with `keep_end` the end. False where it is none whose characters follow its head.
bool CopyText(const PythonLayout& layout, uint64_t text, bool keep_end, char* out,
              uint32_t capacity);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_
