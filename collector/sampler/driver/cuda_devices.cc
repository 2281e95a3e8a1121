#include "collector/sampler/driver/cuda_devices.h"

#include "absl/strings/str_cat.h"
#include "collector/sampler/driver/shared_library.h"

namespace utlz {
namespace {

// More GPUs than any machine has: what a broken driver says is not trusted.
constexpr int kMaxDevices = 64;

int Attribute(const CudaDriver& table, int attribute, int device) {
  int value = 0;
  return table.device_get_attribute(&value, attribute, device) == 0 ? value : 0;
}

absl::StatusOr<CudaDevice> DescribeDevice(const CudaDriver& table, int ordinal) {
  int device = 0;
  if (int result = table.device_get(&device, ordinal); result != 0) {
    return absl::UnavailableError(
        absl::StrCat("cuDeviceGet of GPU ", ordinal, " failed with CUDA error ", result));
  }
  CudaDevice description;
  description.ordinal = ordinal;
  CudaUuid uuid{};
  if (int result = table.device_get_uuid(&uuid, device); result != 0) {
    return absl::UnavailableError(
        absl::StrCat("cuDeviceGetUuid of GPU ", ordinal, " failed with CUDA error ", result));
  }
  description.uuid.assign(uuid.bytes, sizeof(uuid.bytes));
  char text[256] = {};
  if (table.device_get_name(text, sizeof(text) - 1, device) == 0) description.name = text;
  char bus[32] = {};
  if (table.device_get_pci_bus_id(bus, sizeof(bus) - 1, device) == 0) description.pci_bus = bus;
  size_t memory_bytes = 0;
  if (table.device_total_memory(&memory_bytes, device) == 0) {
    description.memory_bytes = memory_bytes;
  }
  description.compute_capability_major = Attribute(table, kCudaComputeCapabilityMajor, device);
  description.compute_capability_minor = Attribute(table, kCudaComputeCapabilityMinor, device);
  description.multiprocessors = Attribute(table, kCudaMultiprocessorCount, device);
  description.sm_clock_khz = Attribute(table, kCudaClockKhz, device);
  description.memory_clock_khz = Attribute(table, kCudaMemoryClockKhz, device);
  description.memory_bus_bits = Attribute(table, kCudaMemoryBusBits, device);
  return description;
}

}  // namespace

absl::StatusOr<CudaDriver> LoadCudaDriver() {
  void* library = OpenDriverLibrary("libcuda.so.1");
  if (library == nullptr) {
    return absl::NotFoundError("no NVIDIA driver: libcuda.so.1 cannot be loaded");
  }
  CudaDriver driver{};
  if (const char* missing = FindCudaFunctions(library, &driver)) {
    return absl::UnimplementedError(
        absl::StrCat("the NVIDIA driver is too old: libcuda.so.1 lacks ", missing, " of CUDA 12"));
  }
  return driver;
}

absl::StatusOr<std::vector<CudaDevice>> ListCudaDevices(const CudaDriver& table) {
  if (int result = table.init(0); result != 0) {
    const char* name = nullptr;
    table.get_error_name(result, &name);
    return absl::UnavailableError(
        absl::StrCat("cuInit failed: ", name != nullptr ? name : "CUDA error", " (", result, ")"));
  }
  int count = 0;
  if (int result = table.device_get_count(&count);
      result != 0 || count < 0 || count > kMaxDevices) {
    return absl::UnavailableError(absl::StrCat("cuDeviceGetCount failed with CUDA error ", result));
  }
  std::vector<CudaDevice> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    absl::StatusOr<CudaDevice> device = DescribeDevice(table, ordinal);
    if (!device.ok()) return device.status();
    devices.push_back(*std::move(device));
  }
  return devices;
}

}  // namespace utlz
