#include "inject/driver/cuda_api.h"

#include <dlfcn.h>

namespace utlz::agent {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool LoadCuda(CudaApi* api) {
  void* library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  // The second UUID function tells MIG instances apart; drivers before 11.4 lack it.
  if (!Find(library, "cuDeviceGetUuid_v2", &api->device_get_uuid) &&
      !Find(library, "cuDeviceGetUuid", &api->device_get_uuid)) {
    return false;
  }
  Find(library, "cuDevicePrimaryCtxGetState", &api->primary_get_state);
  Find(library, "cuDevicePrimaryCtxRetain", &api->primary_retain);
  Find(library, "cuDevicePrimaryCtxRelease_v2", &api->primary_release);
  Find(library, "cuThreadExchangeStreamCaptureMode", &api->thread_exchange_capture_mode);
  Find(library, "cuDeviceGetDefaultMemPool", &api->device_get_default_pool);
  Find(library, "cuDeviceGetMemPool", &api->device_get_pool);
  Find(library, "cuMemPoolGetAttribute", &api->pool_get_attribute);
  return Find(library, "cuDriverGetVersion", &api->driver_get_version) &&
         Find(library, "cuDeviceGetCount", &api->device_get_count) &&
         Find(library, "cuDeviceGet", &api->device_get) &&
         Find(library, "cuDeviceGetName", &api->device_get_name) &&
         Find(library, "cuDeviceGetPCIBusId", &api->device_get_pci_bus_id) &&
         Find(library, "cuDeviceGetAttribute", &api->device_get_attribute) &&
         Find(library, "cuDeviceTotalMem_v2", &api->device_total_memory);
}

}  // namespace utlz::agent
