#include "inject/cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "cupti/zero_pages.h"
#include "proto/ring_abi.h"

namespace utlz::inject {
namespace {

// Newest first; the process's driver decides which a framework brings.
constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12"};

void* LoadedCupti() {
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenIn(const char* folder, const char* below) {
  char path[1024];
  for (const char* soname : kSonames) {
    if (snprintf(path, sizeof path, "%s%s/%s", folder, below, soname) >=
        static_cast<int>(sizeof path)) {
      continue;
    }
    if (void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenInSitePackages(const char* folder) {
  for (const char* below : {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib"}) {
    if (void* library = OpenIn(folder, below)) return library;
  }
  return nullptr;
}

// The site-packages folder that some mapped library comes from: where the target's framework lives.
int FindSitePackages(dl_phdr_info* info, size_t, void* result) {
  constexpr char kFolder[] = "/site-packages/";
  const char* place = info->dlpi_name == nullptr ? nullptr : strstr(info->dlpi_name, kFolder);
  const size_t length =
      place == nullptr ? 0 : static_cast<size_t>(place - info->dlpi_name) + sizeof kFolder - 2;
  if (length == 0 || length >= 512) return 0;
  memcpy(result, info->dlpi_name, length);
  static_cast<char*>(result)[length] = 0;
  return 1;
}

void* WheelCupti() {
  char folder[512] = "";
  dl_iterate_phdr(FindSitePackages, folder);
  return folder[0] == 0 ? nullptr : OpenInSitePackages(folder);
}

void* ToolkitCupti() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = getenv(variable);
    if (home == nullptr) continue;
    for (const char* below : {"/lib64", "/extras/CUPTI/lib64"}) {
      if (void* library = OpenIn(home, below)) return library;
    }
  }
  for (const char* below : {"/lib64", "/extras/CUPTI/lib64", "/targets/x86_64-linux/lib",
                            "/targets/sbsa-linux/lib"}) {
    if (void* library = OpenIn("/usr/local/cuda", below)) return library;
  }
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* ShippedCupti() {
  const char* path = getenv(kCuptiVariable);
  return path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

void* BroughtCupti(int descriptor) {
  if (descriptor < 0) return nullptr;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/../fd/%d", descriptor);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool FindActivityFunctions(CuptiApi* api) {
  void* l = api->library;
  Find(l, "cuptiFinalize", &api->finalize);
  Find(l, "cuptiActivityEnableContext", &api->activity_enable_context);
  Find(l, "cuptiActivityDisableContext", &api->activity_disable_context);
  Find(l, "cuptiGetContextId", &api->get_context_id);
  Find(l, "cuptiSubscribe_v2", &api->subscribe_v2);
  return Find(l, "cuptiGetVersion", &api->get_version) &&
         Find(l, "cuptiGetTimestamp", &api->get_timestamp) &&
         Find(l, "cuptiSubscribe", &api->subscribe) &&
         Find(l, "cuptiUnsubscribe", &api->unsubscribe) &&
         Find(l, "cuptiEnableCallback", &api->enable_callback) &&
         Find(l, "cuptiEnableDomain", &api->enable_domain) &&
         Find(l, "cuptiActivityRegisterCallbacks", &api->activity_register_callbacks) &&
         Find(l, "cuptiActivityEnable", &api->activity_enable) &&
         Find(l, "cuptiActivityDisable", &api->activity_disable) &&
         Find(l, "cuptiActivityFlushAll", &api->activity_flush_all) &&
         Find(l, "cuptiActivityGetNextRecord", &api->activity_get_next_record) &&
         Find(l, "cuptiActivityGetNumDroppedRecords", &api->activity_get_dropped) &&
         Find(l, "cuptiActivitySetAttribute", &api->activity_set_attribute);
}

bool FindRangeFunctions(CuptiApi* api) {
  void* l = api->library;
  return Find(l, "cuptiProfilerInitialize", &api->profiler_initialize) &&
         Find(l, "cuptiDeviceGetChipName", &api->device_get_chip_name) &&
         Find(l, "cuptiProfilerHostInitialize", &api->host_initialize) &&
         Find(l, "cuptiProfilerHostDeinitialize", &api->host_deinitialize) &&
         Find(l, "cuptiProfilerHostConfigAddMetrics", &api->host_config_add_metrics) &&
         Find(l, "cuptiProfilerHostGetConfigImageSize", &api->host_get_config_image_size) &&
         Find(l, "cuptiProfilerHostGetConfigImage", &api->host_get_config_image) &&
         Find(l, "cuptiProfilerHostGetNumOfPasses", &api->host_get_num_of_passes) &&
         Find(l, "cuptiProfilerHostEvaluateToGpuValues", &api->host_evaluate) &&
         Find(l, "cuptiRangeProfilerEnable", &api->range_enable) &&
         Find(l, "cuptiRangeProfilerDisable", &api->range_disable) &&
         Find(l, "cuptiRangeProfilerStart", &api->range_start) &&
         Find(l, "cuptiRangeProfilerStop", &api->range_stop) &&
         Find(l, "cuptiRangeProfilerPushRange", &api->range_push) &&
         Find(l, "cuptiRangeProfilerPopRange", &api->range_pop) &&
         Find(l, "cuptiRangeProfilerDecodeData", &api->range_decode) &&
         Find(l, "cuptiRangeProfilerSetConfig", &api->range_set_config) &&
         Find(l, "cuptiRangeProfilerGetCounterDataSize", &api->range_counter_data_size) &&
         Find(l, "cuptiRangeProfilerCounterDataImageInitialize",
              &api->range_counter_data_initialize) &&
         Find(l, "cuptiRangeProfilerGetCounterDataInfo", &api->range_counter_data_info);
}

void RememberPath(CuptiApi* api) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(api->get_version), &info) != 0 && info.dli_fname != nullptr) {
    snprintf(api->path, sizeof api->path, "%s", info.dli_fname);
  }
}

}  // namespace

CuptiLoad LoadCupti(CuptiApi* api, int brought) {
  using Source = void* (*)();
  for (Source source : {Source{LoadedCupti}, Source{WheelCupti}, Source{ToolkitCupti},
                        Source{ShippedCupti}}) {
    if ((api->library = source()) != nullptr) break;
  }
  if (api->library == nullptr) api->library = BroughtCupti(brought);
  if (api->library == nullptr) return CuptiLoad::kNotFound;
  if (!FindActivityFunctions(api)) return CuptiLoad::kIncomplete;
  RememberPath(api);
  if (api->get_version(&api->version) != cupti::kSuccess) return CuptiLoad::kIncomplete;
  if (api->version < cupti::kOldestVersion) return CuptiLoad::kTooOld;
  api->has_ranges = FindRangeFunctions(api);
  Find(api->library, "cuptiActivityEnableDriverApi", &api->activity_enable_driver_api);
  Find(api->library, "cuptiActivityEnableRuntimeApi", &api->activity_enable_runtime_api);
  Find(api->library, "cuptiNvtxInitialize2", &api->nvtx_initialize2);
  return CuptiLoad::kLoaded;
}

void LoadNvperf(const CuptiApi& api) {
  const char* slash = strrchr(api.path, '/');
  if (slash == nullptr) return;
  char path[1100];
  snprintf(path, sizeof path, "%.*s/libnvperf_host.so", static_cast<int>(slash - api.path),
           api.path);
  OpenWithoutZeroPages(path, RTLD_LAZY | RTLD_GLOBAL);
}

}  // namespace utlz::inject
