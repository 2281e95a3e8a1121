// The part of CUPTI's host and PM-sampling interface that the sampler alone uses, declared here so
// that building needs no CUDA toolkit. Layouts are those of CUPTI 12.6 to 13.x; a test compares
// them with the real headers wherever these are found. Every structure names its own size first, by
// which CUPTI tells versions apart; a newer CUPTI accepts the smaller size.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_PROFILER_ABI_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_PROFILER_ABI_H_

#include <cstddef>
#include <cstdint>

#include "cupti/host_abi.h"

namespace utlz::cupti {

enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kNotInitialized = 15,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kVirtualizedDeviceNotSupported = 33,
  kInsufficientPrivileges = 35,
  kVirtualizedDeviceInsufficientPrivileges = 40,
};

enum TriggerMode : int { kTriggerSysclk = 0, kTriggerTime = 1 };
enum AppendMode : int { kKeepOldest = 0, kKeepLatest = 1 };
enum DecodeStop : int { kStopOther = 0, kStopCounterDataFull = 1, kStopEndOfRecords = 2 };
enum SupportLevel : int {
  kSupportUnknown = 0,
  kUnsupported = 1,
  kSupportDisabled = 2,
  kSupported = 3
};
enum ProfilerApi : int { kApiRangeProfiling = 0, kApiPmSampling = 3 };

struct PmSamplingObject;

struct DeviceSupportedParams {
  size_t struct_size = 52;
  void* reserved = nullptr;
  int device = 0;
  SupportLevel supported = kSupportUnknown;
  SupportLevel architecture = kSupportUnknown;
  SupportLevel sli = kSupportUnknown;
  SupportLevel vgpu = kSupportUnknown;
  SupportLevel confidential_compute = kSupportUnknown;
  SupportLevel mining_processor = kSupportUnknown;
  SupportLevel wsl = kSupportUnknown;
  ProfilerApi api = kApiPmSampling;
};

struct HostGetSupportedChipsParams {
  size_t struct_size = 32;
  void* reserved = nullptr;
  size_t chip_count = 0;
  const char* const* chip_names = nullptr;
};

struct PmEnableParams {
  size_t struct_size = 32;
  void* reserved = nullptr;
  size_t device_index = 0;
  PmSamplingObject* object = nullptr;
};

// Disable, start and stop.
struct PmObjectParams {
  size_t struct_size = 24;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
};

struct PmSetConfigParams {
  size_t struct_size = 64;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
  size_t config_size = 0;
  const uint8_t* config = nullptr;
  size_t hardware_buffer_size = 0;
  uint64_t sampling_interval = 0;
  TriggerMode trigger_mode = kTriggerTime;
  AppendMode append_mode = kKeepOldest;
};

struct PmDecodeDataParams {
  size_t struct_size = 45;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
  uint8_t* counter_data_image = nullptr;
  size_t counter_data_image_size = 0;
  DecodeStop stop_reason = kStopOther;
  uint8_t overflow = 0;
};

struct PmGetCounterAvailabilityParams {
  size_t struct_size = 40;
  void* reserved = nullptr;
  size_t device_index = 0;
  size_t image_size = 0;
  uint8_t* image = nullptr;
};

struct PmGetCounterDataSizeParams {
  size_t struct_size = 56;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
  const char** metric_names = nullptr;
  size_t metric_count = 0;
  uint32_t max_samples = 0;
  size_t counter_data_size = 0;
};

struct PmCounterDataInitializeParams {
  size_t struct_size = 40;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
  size_t counter_data_size = 0;
  uint8_t* counter_data = nullptr;
};

struct PmGetCounterDataInfoParams {
  size_t struct_size = 56;
  void* reserved = nullptr;
  const uint8_t* counter_data_image = nullptr;
  size_t counter_data_image_size = 0;
  size_t total_samples = 0;
  size_t populated_samples = 0;
  size_t completed_samples = 0;
};

struct PmGetSampleInfoParams {
  size_t struct_size = 64;
  void* reserved = nullptr;
  PmSamplingObject* object = nullptr;
  const uint8_t* counter_data_image = nullptr;
  size_t counter_data_image_size = 0;
  size_t sample_index = 0;
  uint64_t start_timestamp = 0;
  uint64_t end_timestamp = 0;
};

}  // namespace utlz::cupti

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_PROFILER_ABI_H_
