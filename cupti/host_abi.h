// The part of CUPTI's host interface that both the agent and the sampler use, declared here so that
// building needs no CUDA toolkit. Layouts are those of CUPTI 12.6 to 13.x; tests compare them with
// the real headers wherever these are found. Every structure names its own size first, by which
// CUPTI tells versions apart; a newer CUPTI accepts the smaller size.
#ifndef UTLZ_CUPTI_HOST_ABI_H_
#define UTLZ_CUPTI_HOST_ABI_H_

#include <cstddef>
#include <cstdint>

namespace utlz::cupti {

enum ProfilerType : int { kRangeProfiler = 0, kPmSampling = 1 };

struct HostObject;

struct InitializeParams {
  size_t struct_size = 16;
  void* reserved = nullptr;
};

struct GetChipNameParams {
  size_t struct_size = 32;
  void* reserved = nullptr;
  size_t device_index = 0;
  const char* chip_name = nullptr;
};

struct HostInitializeParams {
  size_t struct_size = 48;
  void* reserved = nullptr;
  ProfilerType profiler_type = kPmSampling;
  const char* chip_name = nullptr;
  const uint8_t* counter_availability_image = nullptr;
  HostObject* host_object = nullptr;
};

struct HostDeinitializeParams {
  size_t struct_size = 24;
  void* reserved = nullptr;
  HostObject* host_object = nullptr;
};

struct HostConfigAddMetricsParams {
  size_t struct_size = 40;
  void* reserved = nullptr;
  HostObject* host_object = nullptr;
  const char** metric_names = nullptr;
  size_t metric_count = 0;
};

struct HostGetConfigImageSizeParams {
  size_t struct_size = 32;
  void* reserved = nullptr;
  HostObject* host_object = nullptr;
  size_t config_image_size = 0;
};

struct HostGetConfigImageParams {
  size_t struct_size = 40;
  void* reserved = nullptr;
  HostObject* host_object = nullptr;
  size_t config_image_size = 0;
  uint8_t* config_image = nullptr;
};

struct HostGetNumOfPassesParams {
  size_t struct_size = 40;
  void* reserved = nullptr;
  size_t config_image_size = 0;
  uint8_t* config_image = nullptr;
  size_t pass_count = 0;
};

struct HostEvaluateParams {
  size_t struct_size = 72;
  void* reserved = nullptr;
  HostObject* host_object = nullptr;
  const uint8_t* counter_data_image = nullptr;
  size_t counter_data_image_size = 0;
  size_t range_index = 0;
  const char** metric_names = nullptr;
  size_t metric_count = 0;
  double* metric_values = nullptr;
};

}  // namespace utlz::cupti

#endif  // UTLZ_CUPTI_HOST_ABI_H_
