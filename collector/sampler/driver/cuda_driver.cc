#include "collector/sampler/driver/cuda_driver.h"

#include "collector/sampler/driver/shared_library.h"

namespace utlz {

const char* FindCudaFunctions(void* library, CudaDriver* driver) {
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    const bool found = ResolveSymbol(library, name, function);
    if (!found) missing = name;
    return found;
  };
  find("cuInit", &driver->init);
  find("cuGetErrorName", &driver->get_error_name);
  find("cuGetErrorString", &driver->get_error_string);
  find("cuDeviceGetCount", &driver->device_get_count);
  find("cuDeviceGet", &driver->device_get);
  find("cuDeviceGetName", &driver->device_get_name);
  find("cuDeviceGetPCIBusId", &driver->device_get_pci_bus_id);
  find("cuDeviceGetAttribute", &driver->device_get_attribute);
  find("cuDeviceTotalMem_v2", &driver->device_total_memory);
  find("cuDevicePrimaryCtxRetain", &driver->primary_context_retain);
  find("cuDevicePrimaryCtxRelease_v2", &driver->primary_context_release);
  find("cuCtxSetCurrent", &driver->context_set_current);
  find("cuMemGetInfo_v2", &driver->memory_get_info);
  find("cuMemAlloc_v2", &driver->memory_allocate);
  find("cuMemFree_v2", &driver->memory_free);
  find("cuMemcpyHtoD_v2", &driver->copy_to_device);
  find("cuModuleLoadData", &driver->module_load_data);
  find("cuModuleUnload", &driver->module_unload);
  find("cuModuleGetFunction", &driver->module_get_function);
  find("cuStreamCreate", &driver->stream_create);
  find("cuStreamDestroy_v2", &driver->stream_destroy);
  find("cuStreamSynchronize", &driver->stream_synchronize);
  find("cuStreamBeginCapture_v2", &driver->stream_begin_capture);
  find("cuStreamEndCapture", &driver->stream_end_capture);
  find("cuEventCreate", &driver->event_create);
  find("cuEventDestroy_v2", &driver->event_destroy);
  find("cuEventRecord", &driver->event_record);
  find("cuEventSynchronize", &driver->event_synchronize);
  find("cuEventElapsedTime", &driver->event_elapsed_time);
  find("cuGraphInstantiateWithFlags", &driver->graph_instantiate);
  find("cuGraphLaunch", &driver->graph_launch);
  find("cuLaunchKernel", &driver->launch_kernel);
  // The newer function tells a MIG slice's own UUID.
  if (!ResolveSymbol(library, "cuDeviceGetUuid_v2", &driver->device_get_uuid)) {
    find("cuDeviceGetUuid", &driver->device_get_uuid);
  }
  return missing;
}

}  // namespace utlz
