// NVML's functions that the sampler calls, resolved at run time. Any of them may be null: older
// drivers lack some, and the number that it gives is then absent.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_TABLE_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_TABLE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/sampler/driver/nvml_abi.h"

namespace utlz {

struct NvmlTable {
  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*system_get_driver_version)(char*, unsigned) = nullptr;
  int (*device_get_handle_by_uuid)(const char*, nvml::DeviceHandle**) = nullptr;
  int (*device_get_utilization)(nvml::DeviceHandle*, nvml::Utilization*) = nullptr;
  int (*device_get_memory)(nvml::DeviceHandle*, nvml::Memory*) = nullptr;
  int (*device_get_power)(nvml::DeviceHandle*, unsigned*) = nullptr;
  int (*device_get_energy)(nvml::DeviceHandle*, unsigned long long*) = nullptr;
  int (*device_get_clock)(nvml::DeviceHandle*, unsigned, unsigned*) = nullptr;
  int (*device_get_max_clock)(nvml::DeviceHandle*, unsigned, unsigned*) = nullptr;
  int (*device_get_bus_width)(nvml::DeviceHandle*, unsigned*) = nullptr;
  int (*device_get_temperature)(nvml::DeviceHandle*, unsigned, unsigned*) = nullptr;
  int (*device_get_clock_limits)(nvml::DeviceHandle*, unsigned long long*) = nullptr;
  int (*device_get_mig_mode)(nvml::DeviceHandle*, unsigned*, unsigned*) = nullptr;
  int (*device_get_name)(nvml::DeviceHandle*, char*, unsigned) = nullptr;
  int (*device_get_uuid)(nvml::DeviceHandle*, char*, unsigned) = nullptr;
  int (*device_get_power_limit)(nvml::DeviceHandle*, unsigned*) = nullptr;
  int (*device_get_compute_capability)(nvml::DeviceHandle*, int*, int*) = nullptr;
  int (*device_get_core_count)(nvml::DeviceHandle*, unsigned*) = nullptr;
  int (*device_get_count)(unsigned*) = nullptr;
  int (*device_get_handle_by_index)(unsigned, nvml::DeviceHandle**) = nullptr;
  int (*device_get_compute_processes)(nvml::DeviceHandle*, unsigned*, nvml::ProcessInfo*) = nullptr;
  int (*gpm_query_support)(nvml::DeviceHandle*, nvml::GpmSupport*) = nullptr;
  int (*gpm_sample_alloc)(nvml::GpmSampleHandle**) = nullptr;
  int (*gpm_sample_free)(nvml::GpmSampleHandle*) = nullptr;
  int (*gpm_sample_get)(nvml::DeviceHandle*, nvml::GpmSampleHandle*) = nullptr;
  int (*gpm_metrics_get)(nvml::GpmMetricsGet*) = nullptr;
};

// dlopen of libnvidia-ml.so.1 and nvmlInit.
absl::StatusOr<NvmlTable> LoadNvml();

// "580.159.04"; nullopt where NVML does not tell.
std::optional<std::string> NvmlDriverVersion(const NvmlTable& table);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_NVML_TABLE_H_
