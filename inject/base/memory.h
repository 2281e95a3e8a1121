// Anonymous memory straight from the kernel, so that the agent never enters the target's allocator,
// which may be mid-call, replaced or instrumented. Pages cost nothing until they are touched.
#ifndef UTLZ_INJECT_BASE_MEMORY_H_
#define UTLZ_INJECT_BASE_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>

namespace utlz::agent {

// Zeroed memory, or null.
template <typename T>
T* MapArray(size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

// Zeroes memory of MapArray's and gives its pages back.
template <typename T>
void ClearArray(T* array, size_t count) {
  if (array != nullptr) madvise(array, count * sizeof(T), MADV_DONTNEED);
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_MEMORY_H_
