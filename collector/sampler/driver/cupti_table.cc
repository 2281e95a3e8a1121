#include "collector/sampler/driver/cupti_table.h"

#include <dlfcn.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/sampler/driver/shared_library.h"
#include "cupti/zero_pages.h"

namespace utlz {
namespace {

// The first name that is missing, or null.
const char* ResolveAll(void* library, CuptiTable* table) {
  struct Entry {
    const char* name;
    bool found;
  };
#define UTLZ_CUPTI_ENTRY(name, member) \
  { name, ResolveSymbol(library, name, &table->member) }
  const Entry entries[] = {
      UTLZ_CUPTI_ENTRY("cuptiGetVersion", get_version),
      UTLZ_CUPTI_ENTRY("cuptiGetResultString", get_result_string),
      UTLZ_CUPTI_ENTRY("cuptiProfilerInitialize", profiler_initialize),
      UTLZ_CUPTI_ENTRY("cuptiProfilerDeviceSupported", profiler_device_supported),
      UTLZ_CUPTI_ENTRY("cuptiDeviceGetChipName", device_get_chip_name),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostInitialize", host_initialize),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostDeinitialize", host_deinitialize),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostGetSupportedChips", host_get_supported_chips),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostConfigAddMetrics", host_config_add_metrics),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostGetConfigImageSize", host_get_config_image_size),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostGetConfigImage", host_get_config_image),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostGetNumOfPasses", host_get_num_of_passes),
      UTLZ_CUPTI_ENTRY("cuptiProfilerHostEvaluateToGpuValues", host_evaluate_to_gpu_values),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingEnable", pm_enable),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingDisable", pm_disable),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingSetConfig", pm_set_config),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingStart", pm_start),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingStop", pm_stop),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingDecodeData", pm_decode_data),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingGetCounterAvailability", pm_get_counter_availability),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingGetCounterDataSize", pm_get_counter_data_size),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingCounterDataImageInitialize", pm_counter_data_initialize),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingGetCounterDataInfo", pm_get_counter_data_info),
      UTLZ_CUPTI_ENTRY("cuptiPmSamplingCounterDataGetSampleInfo", pm_get_sample_info),
  };
#undef UTLZ_CUPTI_ENTRY
  for (const Entry& entry : entries) {
    if (!entry.found) return entry.name;
  }
  return nullptr;
}

// CUPTI opens it by bare name, which finds it only where the loader is set to look: with it loaded
// already by full path, the bare name finds the loaded one. libnvperf_target.so, which takes 34 MB,
// is not needed for sampling.
void PreloadPerformanceLibrary(const std::string& cupti_path) {
  const std::string path =
      cupti_path.substr(0, cupti_path.find_last_of('/') + 1) + "libnvperf_host.so";
  if (access(path.c_str(), R_OK) == 0) OpenWithoutZeroPages(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

absl::StatusOr<CuptiTable> LoadCupti(const std::vector<std::string>& paths) {
  std::vector<std::string> failures;
  for (const std::string& path : paths) {
    PreloadPerformanceLibrary(path);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = dlerror();
      failures.push_back(absl::StrCat(path, ": ", reason != nullptr ? reason : "cannot be loaded"));
      continue;
    }
    CuptiTable table;
    if (const char* missing = ResolveAll(library, &table)) {
      failures.push_back(
          absl::StrCat(path, ": lacks ", missing, " (CUPTI 12.6 or newer is needed)"));
      continue;
    }
    table.path = path;
    return table;
  }
  if (failures.empty()) {
    return absl::NotFoundError("no libcupti was found in the CUDA toolkit's or Python's folders");
  }
  return absl::NotFoundError(absl::StrCat("no usable libcupti: ", absl::StrJoin(failures, "; ")));
}

std::string CuptiResultName(const CuptiTable& table, int result) {
  const char* name = nullptr;
  if (table.get_result_string != nullptr && table.get_result_string(result, &name) == 0 &&
      name != nullptr) {
    return absl::StrCat(name, " (", result, ")");
  }
  return absl::StrCat("CUPTI error ", result);
}

absl::Status CuptiStatus(const CuptiTable& table, int result, const char* what) {
  if (result == cupti::kSuccess) return absl::OkStatus();
  const std::string text = absl::StrCat(what, ": ", CuptiResultName(table, result));
  switch (result) {
    case cupti::kHardwareBusy:
      return absl::UnavailableError(text);
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualizedDeviceInsufficientPrivileges:
      return absl::PermissionDeniedError(text);
    case cupti::kNotSupported:
    case cupti::kVirtualizedDeviceNotSupported:
      return absl::UnimplementedError(text);
    case cupti::kOutOfMemory:
      return absl::ResourceExhaustedError(text);
    case cupti::kInvalidOperation:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace utlz
