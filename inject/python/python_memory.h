// Copies of the interpreter's memory, for a thread that does not own it: the kernel does them,
// which refuses what is not mapped. System calls: never on a launch path.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_
#define UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_

#include <cstdint>

namespace utlz::agent {

// False where not all of it could be read.
bool CopyMemory(uint64_t address, void* to, uint64_t bytes);

template <typename T>
bool CopyValue(uint64_t address, T* value) {
  return CopyMemory(address, value, sizeof(T));
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_MEMORY_H_
