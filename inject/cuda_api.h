// The queries of the CUDA driver that the agent makes, from its own thread: none of them makes or
// needs a context, waits for the GPU or changes what the target sees.
#ifndef UTLZ_INJECT_CUDA_API_H_
#define UTLZ_INJECT_CUDA_API_H_

#include <cstddef>
#include <cstdint>

#include "inject/cupti_abi.h"

namespace utlz::inject {

struct CudaApi {
  cuda::Result (*driver_get_version)(int*);
  cuda::Result (*device_get_count)(int*);
  cuda::Result (*device_get)(int*, int);
  cuda::Result (*device_get_name)(char*, int, int);
  cuda::Result (*device_get_uuid)(uint8_t*, int);
  cuda::Result (*device_get_pci_bus_id)(char*, int, int);
  cuda::Result (*device_get_attribute)(int*, int, int);
  cuda::Result (*device_total_memory)(size_t*, int);
};

// False where the process has no libcuda.so.1, or an incomplete one.
bool LoadCuda(CudaApi* api);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_CUDA_API_H_
