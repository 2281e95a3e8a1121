#include "inject/reports/memory_pool.h"

#include "inject/driver/scoped_relaxed_capture_mode.h"

namespace utlz::agent {
namespace {

// CUmemPool_attribute of cuda.h.
constexpr int kReservedNow = 5;
constexpr int kUsedNow = 7;
constexpr int kUsedHigh = 8;

bool AddPool(const CudaApi& cuda, cuda::MemoryPool pool, PoolMemory* memory) {
  uint64_t used = 0, reserved = 0, high = 0;
  if (cuda.pool_get_attribute(pool, kUsedNow, &used) != cuda::kSuccess ||
      cuda.pool_get_attribute(pool, kReservedNow, &reserved) != cuda::kSuccess ||
      cuda.pool_get_attribute(pool, kUsedHigh, &high) != cuda::kSuccess) {
    return false;
  }
  memory->used_bytes += used;
  memory->reserved_bytes += reserved;
  memory->used_high_bytes += high;
  return true;
}

}  // namespace

bool ReadPoolMemory(const CudaApi& cuda, int ordinal, PoolMemory* memory) {
  *memory = {};
  const ScopedRelaxedCaptureMode aside(cuda);
  int device = 0;
  cuda::MemoryPool by_default = nullptr, current = nullptr;
  if (cuda.pool_get_attribute == nullptr || cuda.device_get_default_pool == nullptr ||
      cuda.device_get_pool == nullptr || cuda.device_get(&device, ordinal) != cuda::kSuccess ||
      cuda.device_get_default_pool(&by_default, device) != cuda::kSuccess ||
      !AddPool(cuda, by_default, memory)) {
    return false;
  }
  if (cuda.device_get_pool(&current, device) == cuda::kSuccess && current != by_default) {
    AddPool(cuda, current, memory);
  }
  return memory->used_high_bytes > 0 || memory->reserved_bytes > 0;
}

}  // namespace utlz::agent
