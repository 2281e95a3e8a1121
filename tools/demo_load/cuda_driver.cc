#include "tools/demo_load/cuda_driver.h"

#include <dlfcn.h>

namespace utlz {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function, const char** missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) *missing = name;
  return *function != nullptr;
}

}  // namespace

bool LoadCudaDriver(CudaDriver* driver, const char** missing) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *missing = "libcuda.so.1";
    return false;
  }
  const auto find = [&](const char* name, auto* function) {
    return Find(library, name, function, missing);
  };
  return find("cuInit", &driver->init) && find("cuDeviceGet", &driver->device_get) &&
         find("cuDeviceGetName", &driver->device_get_name) &&
         find("cuDevicePrimaryCtxRetain", &driver->primary_context_retain) &&
         find("cuCtxSetCurrent", &driver->context_set_current) &&
         find("cuMemGetInfo_v2", &driver->memory_get_info) &&
         find("cuMemAlloc_v2", &driver->memory_allocate) &&
         find("cuMemcpyHtoD_v2", &driver->copy_to_device) &&
         find("cuModuleLoadData", &driver->module_load_data) &&
         find("cuModuleGetFunction", &driver->module_get_function) &&
         find("cuStreamCreate", &driver->stream_create) &&
         find("cuStreamSynchronize", &driver->stream_synchronize) &&
         find("cuStreamBeginCapture_v2", &driver->stream_begin_capture) &&
         find("cuStreamEndCapture", &driver->stream_end_capture) &&
         find("cuGraphInstantiateWithFlags", &driver->graph_instantiate) &&
         find("cuGraphLaunch", &driver->graph_launch) &&
         find("cuLaunchKernel", &driver->launch_kernel) &&
         find("cuGetErrorString", &driver->get_error_string);
}

}  // namespace utlz
