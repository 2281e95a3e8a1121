// The part of NVML that the sampler uses, declared here so that building needs no CUDA toolkit.
// A test compares it with nvml.h wherever that is found.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_ABI_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_ABI_H_

#include <cstddef>
#include <cstdint>

namespace utlz::nvml {

enum Result : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
};

struct DeviceHandle;     // nvmlDevice_t points to one
struct GpmSampleHandle;  // nvmlGpmSample_t holds a pointer to one

enum ClockType : unsigned { kClockSm = 1, kClockMemory = 2 };
enum TemperatureSensor : unsigned { kTemperatureGpu = 0 };

// Bits of the clock-limit reasons (nvmlClocksEventReason*).
inline constexpr uint64_t kClocksGpuIdle = 0x1;
inline constexpr uint64_t kClocksApplicationSetting = 0x2;
inline constexpr uint64_t kClocksSoftwarePowerCap = 0x4;
inline constexpr uint64_t kClocksHardwareSlowdown = 0x8;
inline constexpr uint64_t kClocksSoftwareThermal = 0x20;
inline constexpr uint64_t kClocksHardwareThermal = 0x40;
inline constexpr uint64_t kClocksPowerBrake = 0x80;
// Of these, the limits that a GPU meets the sooner, the more power it takes.
inline constexpr uint64_t kClocksLimitedByPower = kClocksSoftwarePowerCap |
                                                  kClocksHardwareSlowdown | kClocksSoftwareThermal |
                                                  kClocksHardwareThermal | kClocksPowerBrake;

struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

// nvmlProcessInfo_v2_t. An unknown amount of memory is all ones.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_gpu_memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

struct GpmSupport {
  unsigned version = 1;
  unsigned supported = 0;
};

enum GpmMetricId : unsigned {
  kGpmSmActive = 2,
  kGpmSmOccupancy = 3,
  kGpmTensorActive = 5,
  kGpmDramActive = 10,
  kGpmFp64Active = 11,
  kGpmFp32Active = 12,
  kGpmFp16Active = 13,
  kGpmPcieTx = 20,    // MiB/s
  kGpmPcieRx = 21,    // MiB/s
  kGpmNvlinkRx = 60,  // all links together, MiB/s
  kGpmNvlinkTx = 61,  // all links together, MiB/s
};

struct GpmMetric {
  unsigned id = 0;
  int result = 0;
  double value = 0;
  char* short_name = nullptr;
  char* long_name = nullptr;
  char* unit = nullptr;
};

// The array is longer in every newer NVML while the version stays 1: longer than any so far, so
// that a library that clears all of its own length stays inside.
inline constexpr size_t kGpmMetricCapacity = 1024;

struct GpmMetricsGet {
  unsigned version = 1;
  unsigned metric_count = 0;
  GpmSampleHandle* sample1 = nullptr;
  GpmSampleHandle* sample2 = nullptr;
  GpmMetric metric[kGpmMetricCapacity];
};

}  // namespace utlz::nvml

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_ABI_H_
