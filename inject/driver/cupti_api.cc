#include "inject/driver/cupti_api.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cupti/zero_pages.h"
#include "inject/driver/cupti_file.h"
#include "proto/ring_abi.h"

namespace utlz::agent {
namespace {

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
  Find(l, "cuptiGetGraphNodeId", &api->get_graph_node_id);
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

void RememberFile(CuptiApi* api) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(api->get_version), &info) != 0 && info.dli_fname != nullptr) {
    snprintf(api->path, sizeof api->path, "%s", info.dli_fname);
  }
  struct stat status;
  if (stat(api->path, &status) != 0) return;
  api->device = status.st_dev;
  api->inode = status.st_ino;
}

CuptiLoad UseLibrary(void* library, CuptiApi* api) {
  api->library = library;
  if (!FindActivityFunctions(api)) return CuptiLoad::kIncomplete;
  RememberFile(api);
  if (api->get_version(&api->version) != cupti::kSuccess) return CuptiLoad::kIncomplete;
  if (api->version < cupti::kOldestVersion) return CuptiLoad::kTooOld;
  api->has_ranges = FindRangeFunctions(api);
  Find(library, "cuptiActivityEnableDriverApi", &api->activity_enable_driver_api);
  Find(library, "cuptiActivityEnableRuntimeApi", &api->activity_enable_runtime_api);
  Find(library, "cuptiNvtxInitialize2", &api->nvtx_initialize2);
  return CuptiLoad::kLoaded;
}

// If several files were named, reports what became of the first.
void SetFate(NamedCupti fate, const char* path, const char* error, NamedCuptiFate* named) {
  if (named->fate != NamedCupti::kNone) return;
  named->fate = fate;
  snprintf(named->path, sizeof named->path, "%s", path);
  snprintf(named->error, sizeof named->error, "%s", error == nullptr ? "" : error);
}

// The dynamic loader's latest error, without the file's name before it.
const char* LoaderError(const char* path) {
  const char* error = dlerror();
  const size_t length = strlen(path);
  if (error == nullptr || strncmp(error, path, length) != 0) return error;
  return strncmp(error + length, ": ", 2) == 0 ? error + length + 2 : error;
}

// Forgets a library that will not do. It stays loaded: what ran is never unloaded (cupti_file.h).
void PassOver(CuptiApi* api) {
  const NamedCuptiFate named = api->named;
  *api = {};
  api->named = named;
}

bool UseNamed(const char* path, const char* shown, CuptiApi* api) {
  const CuptiLook look = LookAtCupti(path);
  if (look == CuptiLook::kIncomplete || look == CuptiLook::kTooOld) {
    SetFate(look == CuptiLook::kTooOld ? NamedCupti::kTooOld : NamedCupti::kIncomplete, shown,
            nullptr, &api->named);
    return false;
  }
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    SetFate(NamedCupti::kNotLoadable, shown, LoaderError(path), &api->named);
    return false;
  }
  const CuptiLoad load = UseLibrary(library, api);
  if (load != CuptiLoad::kLoaded) {
    SetFate(load == CuptiLoad::kTooOld ? NamedCupti::kTooOld : NamedCupti::kIncomplete, shown,
            nullptr, &api->named);
    PassOver(api);
    return false;
  }
  SetFate(NamedCupti::kUsed, shown, nullptr, &api->named);
  api->by_name = true;
  return true;
}

bool UseNamedDescriptor(int descriptor, CuptiApi* api) {
  if (descriptor < 0) return false;
  CuptiFile file;
  FindFile(descriptor, &file);
  return UseNamed(file.path, file.shown, api);
}

bool UseNamedVariable(CuptiApi* api) {
  const char* path = getenv(kNamedCuptiVariable);
  return path != nullptr && path[0] != 0 && UseNamed(path, path, api);
}

void* OpenDescriptor(int descriptor) {
  if (descriptor < 0) return nullptr;
  CuptiFile file;
  FindFile(descriptor, &file);
  return dlopen(file.path, RTLD_LAZY | RTLD_LOCAL);
}

bool IsFileInUse(const CuptiApi& api, int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && api.device == status.st_dev &&
         api.inode == status.st_ino;
}

}  // namespace

CuptiLoad LoadCupti(CuptiApi* api, const BroughtCupti& brought) {
  api->named = {};
  // Before a named copy is loaded: the dynamic loader knows both by the same name.
  void* library = LoadedCupti();
  if (UseNamedDescriptor(brought.named, api) || UseNamedVariable(api)) {
    LookForOtherCupti(api);
    return CuptiLoad::kLoaded;
  }
  if (library == nullptr) library = OpenFoundCupti();
  if (library == nullptr) library = OpenDescriptor(brought.last_resort);
  return library == nullptr ? CuptiLoad::kNotFound : UseLibrary(library, api);
}

void KeepCupti(CuptiApi* api, const BroughtCupti& brought) {
  api->named = {};
  LookForOtherCupti(api);
  if (brought.named < 0) return;
  CuptiFile file;
  FindFile(brought.named, &file);
  SetFate(IsFileInUse(*api, brought.named) ? NamedCupti::kUsed : NamedCupti::kKept, file.shown,
          nullptr, &api->named);
}

bool LookForOtherCupti(CuptiApi* api) {
  if (!api->by_name || HasOtherCupti(*api)) return false;
  return FindOtherCupti(api->library, &api->other_path);
}

void LoadNvperf(const CuptiApi& api) {
  const char* slash = strrchr(api.path, '/');
  if (slash == nullptr) return;
  char path[1100];
  snprintf(path, sizeof path, "%.*s/libnvperf_host.so", static_cast<int>(slash - api.path),
           api.path);
  OpenWithoutZeroPages(path, RTLD_LAZY | RTLD_GLOBAL);
}

}  // namespace utlz::agent
