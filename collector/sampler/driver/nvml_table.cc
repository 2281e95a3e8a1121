#include "collector/sampler/driver/nvml_table.h"

#include "absl/strings/str_cat.h"
#include "collector/sampler/driver/shared_library.h"

namespace utlz {
namespace {

void ResolveDevice(void* library, NvmlTable* table) {
  ResolveSymbol(library, "nvmlDeviceGetUtilizationRates", &table->device_get_utilization);
  ResolveSymbol(library, "nvmlDeviceGetMemoryInfo", &table->device_get_memory);
  ResolveSymbol(library, "nvmlDeviceGetPowerUsage", &table->device_get_power);
  ResolveSymbol(library, "nvmlDeviceGetTotalEnergyConsumption", &table->device_get_energy);
  ResolveSymbol(library, "nvmlDeviceGetClockInfo", &table->device_get_clock);
  ResolveSymbol(library, "nvmlDeviceGetMaxClockInfo", &table->device_get_max_clock);
  ResolveSymbol(library, "nvmlDeviceGetMemoryBusWidth", &table->device_get_bus_width);
  ResolveSymbol(library, "nvmlDeviceGetTemperature", &table->device_get_temperature);
  ResolveSymbol(library, "nvmlDeviceGetMigMode", &table->device_get_mig_mode);
  ResolveSymbol(library, "nvmlDeviceGetName", &table->device_get_name);
  ResolveSymbol(library, "nvmlDeviceGetUUID", &table->device_get_uuid);
  ResolveSymbol(library, "nvmlDeviceGetEnforcedPowerLimit", &table->device_get_power_limit);
  ResolveSymbol(library, "nvmlDeviceGetCudaComputeCapability",
                &table->device_get_compute_capability);
  ResolveSymbol(library, "nvmlDeviceGetNumGpuCores", &table->device_get_core_count);
  ResolveSymbol(library, "nvmlDeviceGetCount_v2", &table->device_get_count);
  ResolveSymbol(library, "nvmlDeviceGetHandleByIndex_v2", &table->device_get_handle_by_index);
  ResolveSymbol(library, "nvmlDeviceGetComputeRunningProcesses_v3",
                &table->device_get_compute_processes);
  // Renamed in NVML 12.2; the old name stays in newer drivers.
  if (!ResolveSymbol(library, "nvmlDeviceGetCurrentClocksEventReasons",
                     &table->device_get_clock_limits)) {
    ResolveSymbol(library, "nvmlDeviceGetCurrentClocksThrottleReasons",
                  &table->device_get_clock_limits);
  }
}

void ResolveGpm(void* library, NvmlTable* table) {
  ResolveSymbol(library, "nvmlGpmQueryDeviceSupport", &table->gpm_query_support);
  ResolveSymbol(library, "nvmlGpmSampleAlloc", &table->gpm_sample_alloc);
  ResolveSymbol(library, "nvmlGpmSampleFree", &table->gpm_sample_free);
  ResolveSymbol(library, "nvmlGpmSampleGet", &table->gpm_sample_get);
  ResolveSymbol(library, "nvmlGpmMetricsGet", &table->gpm_metrics_get);
}

}  // namespace

absl::StatusOr<NvmlTable> LoadNvml() {
  void* library = OpenDriverLibrary("libnvidia-ml.so.1");
  if (library == nullptr) {
    return absl::NotFoundError("no NVIDIA driver: libnvidia-ml.so.1 cannot be loaded");
  }
  NvmlTable table;
  const bool complete =
      ResolveSymbol(library, "nvmlInit_v2", &table.init) &&
      ResolveSymbol(library, "nvmlErrorString", &table.error_string) &&
      ResolveSymbol(library, "nvmlSystemGetDriverVersion", &table.system_get_driver_version) &&
      ResolveSymbol(library, "nvmlDeviceGetHandleByUUID", &table.device_get_handle_by_uuid);
  if (!complete) return absl::UnimplementedError("libnvidia-ml.so.1 is too old");
  ResolveDevice(library, &table);
  ResolveGpm(library, &table);
  if (int result = table.init(); result != nvml::kSuccess) {
    return absl::UnavailableError(absl::StrCat("nvmlInit failed: ", table.error_string(result)));
  }
  return table;
}

std::optional<std::string> NvmlDriverVersion(const NvmlTable& table) {
  char version[96] = {};
  if (table.system_get_driver_version(version, sizeof(version) - 1) != nvml::kSuccess) {
    return std::nullopt;
  }
  return std::string(version);
}

}  // namespace utlz
