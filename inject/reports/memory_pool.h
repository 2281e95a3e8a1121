// What CUDA's stream-ordered allocator (cudaMallocAsync) holds for this process: its own count of
// what is in use, which NVML, that sees what is reserved, cannot know. Agent's thread only.
#ifndef UTLZ_INJECT_REPORTS_MEMORY_POOL_H_
#define UTLZ_INJECT_REPORTS_MEMORY_POOL_H_

#include <cstdint>

#include "inject/driver/cuda_api.h"

namespace utlz::agent {

struct PoolMemory {
  uint64_t used_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t used_high_bytes = 0;  // the most that was ever in use, or since the program reset it
};

// Of the device's current pool, and of its default one where that is another; of pools that a
// library made for itself nothing is known. False where the driver has none, or nothing was ever
// reserved in them. The device must have a primary context.
bool ReadPoolMemory(const CudaApi& cuda, int ordinal, PoolMemory* memory);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_REPORTS_MEMORY_POOL_H_
