// CUPTI's functions that the sampler calls, resolved at run time from a library of our own trusted
// list. Tests fill the table with fakes.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_TABLE_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/driver/cupti_profiler_abi.h"

namespace utlz {

struct CuptiTable {
  int (*get_version)(uint32_t*) = nullptr;
  int (*get_result_string)(int, const char**) = nullptr;
  int (*profiler_initialize)(cupti::InitializeParams*) = nullptr;
  int (*profiler_device_supported)(cupti::DeviceSupportedParams*) = nullptr;
  int (*device_get_chip_name)(cupti::GetChipNameParams*) = nullptr;

  int (*host_initialize)(cupti::HostInitializeParams*) = nullptr;
  int (*host_deinitialize)(cupti::HostDeinitializeParams*) = nullptr;
  int (*host_get_supported_chips)(cupti::HostGetSupportedChipsParams*) = nullptr;
  int (*host_config_add_metrics)(cupti::HostConfigAddMetricsParams*) = nullptr;
  int (*host_get_config_image_size)(cupti::HostGetConfigImageSizeParams*) = nullptr;
  int (*host_get_config_image)(cupti::HostGetConfigImageParams*) = nullptr;
  int (*host_get_num_of_passes)(cupti::HostGetNumOfPassesParams*) = nullptr;
  int (*host_evaluate_to_gpu_values)(cupti::HostEvaluateParams*) = nullptr;

  int (*pm_enable)(cupti::PmEnableParams*) = nullptr;
  int (*pm_disable)(cupti::PmObjectParams*) = nullptr;
  int (*pm_set_config)(cupti::PmSetConfigParams*) = nullptr;
  int (*pm_start)(cupti::PmObjectParams*) = nullptr;
  int (*pm_stop)(cupti::PmObjectParams*) = nullptr;
  int (*pm_decode_data)(cupti::PmDecodeDataParams*) = nullptr;
  int (*pm_get_counter_availability)(cupti::PmGetCounterAvailabilityParams*) = nullptr;
  int (*pm_get_counter_data_size)(cupti::PmGetCounterDataSizeParams*) = nullptr;
  int (*pm_counter_data_initialize)(cupti::PmCounterDataInitializeParams*) = nullptr;
  int (*pm_get_counter_data_info)(cupti::PmGetCounterDataInfoParams*) = nullptr;
  int (*pm_get_sample_info)(cupti::PmGetSampleInfoParams*) = nullptr;

  std::string path;  // of the library
};

// Loads the first library of `paths` that has everything the sampler needs. The libraries stay
// loaded: CUPTI does not survive being unloaded. NotFound names every path that was tried.
absl::StatusOr<CuptiTable> LoadCupti(const std::vector<std::string>& paths);

// "HARDWARE_BUSY (26)", as CUPTI names it.
std::string CuptiResultName(const CuptiTable& table, int result);

// A result of CUPTI as a status: OK, Unavailable (counters busy), PermissionDenied, Unimplemented
// (not supported here), ResourceExhausted (hardware buffer full), else Internal.
absl::Status CuptiStatus(const CuptiTable& table, int result, const char* what);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_CUPTI_TABLE_H_
