// The CUDA driver's functions that our own processes call, found at run time. The agent, a guest in
// another's process, has its own table (inject/driver/cuda_api.h).
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DRIVER_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

// CUDA's own types: integers and opaque handles.
using CudaResult = int;
using CudaPointer = uint64_t;
using CudaHandle = void*;
struct CudaUuid {
  char bytes[16];
};

struct CudaDriver {
  CudaResult (*init)(unsigned flags);
  CudaResult (*get_error_name)(CudaResult result, const char** name);
  CudaResult (*get_error_string)(CudaResult result, const char** text);
  CudaResult (*device_get_count)(int* count);
  CudaResult (*device_get)(int* device, int ordinal);
  CudaResult (*device_get_uuid)(CudaUuid* uuid, int device);
  CudaResult (*device_get_name)(char* name, int size, int device);
  CudaResult (*device_get_pci_bus_id)(char* bus, int size, int device);
  CudaResult (*device_get_attribute)(int* value, int attribute, int device);
  CudaResult (*device_total_memory)(size_t* bytes, int device);
  CudaResult (*primary_context_retain)(CudaHandle* context, int device);
  CudaResult (*primary_context_release)(int device);
  CudaResult (*context_set_current)(CudaHandle context);
  CudaResult (*memory_get_info)(size_t* free_bytes, size_t* total_bytes);
  CudaResult (*memory_allocate)(CudaPointer* pointer, size_t bytes);
  CudaResult (*memory_free)(CudaPointer pointer);
  CudaResult (*copy_to_device)(CudaPointer target, const void* source, size_t bytes);
  CudaResult (*module_load_data)(CudaHandle* module, const void* image);
  CudaResult (*module_unload)(CudaHandle module);
  CudaResult (*module_get_function)(CudaHandle* function, CudaHandle module, const char* name);
  CudaResult (*stream_create)(CudaHandle* stream, unsigned flags);
  CudaResult (*stream_destroy)(CudaHandle stream);
  CudaResult (*stream_synchronize)(CudaHandle stream);
  CudaResult (*stream_begin_capture)(CudaHandle stream, int mode);
  CudaResult (*stream_end_capture)(CudaHandle stream, CudaHandle* graph);
  CudaResult (*event_create)(CudaHandle* event, unsigned flags);
  CudaResult (*event_destroy)(CudaHandle event);
  CudaResult (*event_record)(CudaHandle event, CudaHandle stream);
  CudaResult (*event_synchronize)(CudaHandle event);
  CudaResult (*event_elapsed_time)(float* milliseconds, CudaHandle start, CudaHandle end);
  CudaResult (*graph_instantiate)(CudaHandle* executable, CudaHandle graph,
                                  unsigned long long flags);
  CudaResult (*graph_launch)(CudaHandle executable, CudaHandle stream);
  CudaResult (*launch_kernel)(CudaHandle function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, CudaHandle stream, void** parameters,
                              void** extra);
};

// Fills `driver` from libcuda.so.1, opened by OpenDriverLibrary or dlopen. Null, or the name of a
// function that the library lacks.
const char* FindCudaFunctions(void* library, CudaDriver* driver);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DRIVER_H_
