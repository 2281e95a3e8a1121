// The GPUs that the CUDA driver names. Nothing here makes a context.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DEVICES_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/sampler/driver/cuda_driver.h"

namespace utlz {

// CUdevice_attribute.
enum CudaDeviceAttribute : int {
  kCudaMultiprocessorCount = 16,
  kCudaMemoryClockKhz = 36,
  kCudaMemoryBusBits = 37,
  kCudaClockKhz = 13,
  kCudaComputeCapabilityMajor = 75,
  kCudaComputeCapabilityMinor = 76,
};

// One GPU as the driver names it.
struct CudaDevice {
  int ordinal = 0;   // also CUPTI's device index
  std::string uuid;  // 16 bytes
  std::string name;
  std::string pci_bus;  // "0000:3b:00.0"
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  int sm_clock_khz = 0;      // maximum
  int memory_clock_khz = 0;  // maximum
  int memory_bus_bits = 0;
};

// Opens libcuda.so.1. NotFound where no driver is installed, Unimplemented if it is too old.
absl::StatusOr<CudaDriver> LoadCudaDriver();

// cuInit and the list of GPUs. Unavailable with the driver's error where it cannot start.
absl::StatusOr<std::vector<CudaDevice>> ListCudaDevices(const CudaDriver& table);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_CUDA_DEVICES_H_
