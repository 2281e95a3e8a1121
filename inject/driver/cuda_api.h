// What the agent asks the CUDA driver, from its own thread: nothing of it makes or needs a context,
// waits for the GPU or changes what the target sees.
#ifndef UTLZ_INJECT_DRIVER_CUDA_API_H_
#define UTLZ_INJECT_DRIVER_CUDA_API_H_

#include <cstddef>
#include <cstdint>

#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

struct CudaApi {
  cuda::Result (*driver_get_version)(int*);
  cuda::Result (*device_get_count)(int*);
  cuda::Result (*device_get)(int*, int);
  cuda::Result (*device_get_name)(char*, int, int);
  cuda::Result (*device_get_uuid)(uint8_t*, int);
  cuda::Result (*device_get_pci_bus_id)(char*, int, int);
  cuda::Result (*device_get_attribute)(int*, int, int);
  cuda::Result (*device_total_memory)(size_t*, int);
  // Of primary contexts, and what keeps these calls out of stream captures; null where missing.
  cuda::Result (*primary_get_state)(int, unsigned*, int*);
  cuda::Result (*primary_retain)(cupti::Context*, int);
  cuda::Result (*primary_release)(int);
  cuda::Result (*thread_exchange_capture_mode)(int*);
  // Of the stream-ordered allocator; null where missing.
  cuda::Result (*device_get_default_pool)(cuda::MemoryPool*, int);
  cuda::Result (*device_get_pool)(cuda::MemoryPool*, int);
  cuda::Result (*pool_get_attribute)(cuda::MemoryPool, int, void*);
};

// False where the process has no libcuda.so.1, or an incomplete one.
bool LoadCuda(CudaApi* api);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_CUDA_API_H_
