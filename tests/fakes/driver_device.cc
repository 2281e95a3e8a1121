// cuInit with its injection, versions, errors and devices.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_state.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

// As the driver does: once a process, before cuInit returns, errors ignored.
void Inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "fake libcuda: %s\n", dlerror());
    return;
  }
  using Initialize = int (*)();
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
}

int DeviceCount() { return static_cast<int>(VisibleDeviceCount()); }
bool IsDevice(CUdevice device) { return device >= 0 && device < DeviceCount(); }
// The bus shows where a device is, whatever number a process has for it.
int BusOf(CUdevice device) {
  return 0x3b + static_cast<int>(PhysicalDevice(static_cast<uint32_t>(device)));
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  static std::mutex mutex;
  DriverState& state = DriverState::Instance();
  const std::lock_guard lock(mutex);
  const pid_t initialized = state.initialized_pid.load();
  if (initialized == getpid()) return CUDA_SUCCESS;
  if (initialized != 0) return CUDA_ERROR_NOT_INITIALIZED;  // forked after cuInit
  if (const uint64_t failure = ScenarioNumber("cu_init", 0); failure != 0) {
    return static_cast<CUresult>(failure);
  }
  SimulatedGpu::Instance();
  state.initialized_pid.store(getpid());
  Inject();
  NotifyResource(kInitFinished, nullptr, nullptr, nullptr);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(ScenarioNumber("driver_version", 13000));
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

CUresult cuDeviceGetCount(int* count) {
  ApiScope scope(kCallDeviceGetCount, "cuDeviceGetCount", &count);
  if (!Ready()) return scope.Return(CUDA_ERROR_NOT_INITIALIZED);
  *count = DeviceCount();
  return scope.Return(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<size_t>(size), "%s", kDeviceName);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto bytes = DeviceUuid(PhysicalDevice(static_cast<uint32_t>(device)));
  std::memcpy(uuid->bytes, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

CUresult cuDeviceGetPCIBusId(char* bus, int size, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(bus, static_cast<size_t>(size), "0000:%02X:00.0", BusOf(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = kMemoryBytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      *value = static_cast<int>(kSmClockHz / 1000);
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = kMultiprocessors;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = BusOf(device);
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      *value = 3'201'000;
      break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      *value = 6144;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 60 << 20;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
      *value = static_cast<int>(ScenarioNumber("mps", 0));
      break;
    default:
      *value = 0;
      break;
  }
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  // The newest of the versions that the real driver would choose between.
  *function = nullptr;
  for (const char* suffix : {"_v4", "_v2", ""}) {
    const std::string name = std::string(symbol) + suffix;
    *function = dlsym(RTLD_DEFAULT, name.c_str());
    if (*function == nullptr) continue;
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

}  // extern "C"
}  // namespace utlz::fake
