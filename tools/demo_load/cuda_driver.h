// The few functions of the CUDA driver that the demonstration calls, found at run time.
#ifndef UTLZ_TOOLS_DEMO_LOAD_CUDA_DRIVER_H_
#define UTLZ_TOOLS_DEMO_LOAD_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

// CUDA's own types: integers and opaque handles.
using CudaResult = int;
using CudaDevice = int;
using CudaPointer = uint64_t;
using CudaHandle = void*;

struct CudaDriver {
  CudaResult (*init)(unsigned flags);
  CudaResult (*device_get)(CudaDevice* device, int ordinal);
  CudaResult (*device_get_name)(char* name, int size, CudaDevice device);
  CudaResult (*primary_context_retain)(CudaHandle* context, CudaDevice device);
  CudaResult (*context_set_current)(CudaHandle context);
  CudaResult (*memory_get_info)(size_t* free_bytes, size_t* total_bytes);
  CudaResult (*memory_allocate)(CudaPointer* pointer, size_t bytes);
  CudaResult (*copy_to_device)(CudaPointer target, const void* source, size_t bytes);
  CudaResult (*module_load_data)(CudaHandle* module, const void* image);
  CudaResult (*module_get_function)(CudaHandle* function, CudaHandle module, const char* name);
  CudaResult (*stream_create)(CudaHandle* stream, unsigned flags);
  CudaResult (*stream_synchronize)(CudaHandle stream);
  CudaResult (*stream_begin_capture)(CudaHandle stream, int mode);
  CudaResult (*stream_end_capture)(CudaHandle stream, CudaHandle* graph);
  CudaResult (*graph_instantiate)(CudaHandle* executable, CudaHandle graph,
                                  unsigned long long flags);
  CudaResult (*graph_launch)(CudaHandle executable, CudaHandle stream);
  CudaResult (*launch_kernel)(CudaHandle function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, CudaHandle stream, void** parameters,
                              void** extra);
  CudaResult (*get_error_string)(CudaResult result, const char** text);
};

// Fills `driver` from libcuda.so.1. False where the library or one of the functions is missing:
// then `*missing` names it.
bool LoadCudaDriver(CudaDriver* driver, const char** missing);

}  // namespace utlz

#endif  // UTLZ_TOOLS_DEMO_LOAD_CUDA_DRIVER_H_
