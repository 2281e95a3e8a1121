// A libnvidia-ml of the simulated GPUs: whether each works now, and the energy that it has taken.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/sampler/driver/nvml_abi.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace {

using utlz::fake::NowNs;
using utlz::fake::ScenarioNumber;
using utlz::fake::SimulatedGpu;
using utlz::fake::Work;
using utlz::nvml::DeviceHandle;
using utlz::nvml::kNotSupported;
using utlz::nvml::kSuccess;

constexpr uint64_t kUtilizationNs = 200'000'000;
constexpr size_t kLooksBack = 4096;
constexpr size_t kUuidText = 40;  // "GPU-", 32 digits and four dashes

// A device is its ordinal and one more.
DeviceHandle* HandleOf(size_t ordinal) { return reinterpret_cast<DeviceHandle*>(ordinal + 1); }
uint32_t OrdinalOf(const DeviceHandle* handle) {
  return static_cast<uint32_t>(reinterpret_cast<size_t>(handle) - 1);
}

bool RanOfLate(uint32_t device) {
  SimulatedGpu& gpu = SimulatedGpu::Instance();
  const uint64_t now_ns = NowNs();
  const uint64_t count = gpu.count();
  for (uint64_t i = count; i > 0 && count - i < kLooksBack; --i) {
    Work work;
    if (gpu.Get(i - 1, &work) && work.device == device && work.start_ns <= now_ns &&
        work.end_ns + kUtilizationNs >= now_ns) {
      return true;
    }
  }
  return false;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvmlInit_v2() { return kSuccess; }
const char* nvmlErrorString(int) { return "an error"; }

int nvmlSystemGetDriverVersion(char* output, unsigned size) {
  std::snprintf(output, size, "580.0");
  return kSuccess;
}

// The last byte of a simulated GPU's UUID is its ordinal.
int nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle** handle) {
  if (std::strlen(uuid) != kUuidText) return kNotSupported;
  *handle = HandleOf(std::strtoul(uuid + kUuidText - 2, nullptr, 16));
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(DeviceHandle* handle, utlz::nvml::Utilization* utilization) {
  const uint32_t device = OrdinalOf(handle);
  const bool busy = SimulatedGpu::Instance().WaitsForOthers(device) || RanOfLate(device);
  utilization->gpu = busy ? 100 : 0;
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(DeviceHandle*, unsigned* milliwatts) {
  *milliwatts = static_cast<unsigned>(ScenarioNumber("nvml_milliwatts", 0));
  return *milliwatts == 0 ? kNotSupported : kSuccess;
}

// As if it had taken this power since 1970.
int nvmlDeviceGetTotalEnergyConsumption(DeviceHandle*, unsigned long long* millijoules) {
  const uint64_t milliwatts = ScenarioNumber("nvml_milliwatts", 0);
  *millijoules = NowNs() / 1'000'000 * milliwatts / 1'000;
  return milliwatts == 0 ? kNotSupported : kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
