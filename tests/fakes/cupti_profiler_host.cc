// The profiler host interface of the fake libcupti: metrics, configuration images, passes, values;
// and what both profilers need of the device. Works with no driver, as the real one does.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collector/sampler/driver/cupti_profiler_abi.h"
#include "tests/fakes/counter_image.h"
#include "tests/fakes/counter_metrics.h"
#include "tests/fakes/cuda_link.h"
#include "tests/fakes/cupti_results.h"
#include "tests/fakes/cupti_state.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::cupti {

struct HostObject {
  std::vector<std::string> metrics;
  bool poisoned = false;  // one failed ConfigAddMetrics spoils the object
};

}  // namespace utlz::cupti

namespace utlz::fake {
namespace {

uint64_t PassesFor(const std::vector<std::string>& metrics) {
  bool software = false;
  bool hardware = false;
  for (const std::string& metric : metrics) {
    (IsSoftwareMetric(metric) ? software : hardware) = true;
  }
  return software && hardware ? 2 : 1;
}

std::atomic<bool> torn_down{false};

void TearDown() { torn_down = true; }

}  // namespace

void UseProfilerLibrary() {
  [[maybe_unused]] static const int loaded = std::atexit(TearDown);
  if (!torn_down) return;
  std::fputs("fake libcupti: the profilers' library is used after it was torn down\n", stderr);
  __builtin_trap();  // as fatal as on a GPU; abort() gives the agent time
}

void MakeMoreOfProfilerLibrary() { [[maybe_unused]] static const int made = std::atexit(TearDown); }

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiProfilerInitialize(cupti::InitializeParams* params) {
  if (const CuptiResult arranged = ArrangedResult("cuptiProfilerInitialize")) return arranged;
  return FindCuda() == nullptr ? kCuptiUnknown : kCuptiSuccess;
}

CuptiResult cuptiProfilerDeInitialize(cupti::InitializeParams* params) { return kCuptiSuccess; }

CuptiResult cuptiDeviceGetChipName(cupti::GetChipNameParams* params) {
  if (params->device_index >= ScenarioNumber("devices", 1)) return kCuptiInvalidDevice;
  params->chip_name = kChipName;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerDeviceSupported(cupti::DeviceSupportedParams* params) {
  const bool mig = ScenarioNumber("mig", 0) != 0;
  const bool mps = ScenarioNumber("mps", 0) != 0;
  params->architecture = cupti::kSupported;
  params->sli = params->vgpu = params->confidential_compute = params->mining_processor =
      params->wsl = cupti::kSupported;
  params->supported = mig || mps ? cupti::kUnsupported : cupti::kSupported;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostGetSupportedChips(cupti::HostGetSupportedChipsParams* params) {
  static const char* const chips[] = {kChipName};
  params->chip_count = 1;
  params->chip_names = chips;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostInitialize(cupti::HostInitializeParams* params) {
  if (const CuptiResult arranged = ArrangedResult("cuptiProfilerHostInitialize")) return arranged;
  if (params->chip_name == nullptr) return kCuptiInvalidParameter;
  if (std::strcmp(params->chip_name, kChipName) != 0) return kCuptiInvalidChipName;
  UseProfilerLibrary();
  params->host_object = new cupti::HostObject;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostDeinitialize(cupti::HostDeinitializeParams* params) {
  delete params->host_object;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostConfigAddMetrics(cupti::HostConfigAddMetricsParams* params) {
  cupti::HostObject* host = params->host_object;
  if (host->poisoned) return kCuptiUnknown;
  for (size_t i = 0; i < params->metric_count; ++i) {
    if (!EvaluateMetric(params->metric_names[i], {}, 1)) {
      host->poisoned = true;
      return kCuptiInvalidParameter;
    }
    host->metrics.push_back(params->metric_names[i]);
  }
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostGetConfigImageSize(cupti::HostGetConfigImageSizeParams* params) {
  params->config_image_size = sizeof(ConfigImage);
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostGetConfigImage(cupti::HostGetConfigImageParams* params) {
  if (params->config_image_size < sizeof(ConfigImage)) return kCuptiInvalidParameter;
  const std::vector<std::string>& metrics = params->host_object->metrics;
  const ConfigImage image = {kConfigImageMagic, PassesFor(metrics), metrics.size()};
  std::memcpy(params->config_image, &image, sizeof(image));
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostGetNumOfPasses(cupti::HostGetNumOfPassesParams* params) {
  ConfigImage image;
  if (params->config_image_size < sizeof(image)) return kCuptiInvalidParameter;
  std::memcpy(&image, params->config_image, sizeof(image));
  if (image.magic != kConfigImageMagic) return kCuptiInvalidParameter;
  params->pass_count = image.passes;
  return kCuptiSuccess;
}

CuptiResult cuptiProfilerHostEvaluateToGpuValues(cupti::HostEvaluateParams* params) {
  CounterEntry entry{};
  const bool found = ReadEntry(params->counter_data_image, params->counter_data_image_size,
                               params->range_index, &entry);
  for (size_t i = 0; i < params->metric_count; ++i) {
    const char* name = params->metric_names[i];
    // Peaks are constants: they can be had before anything was counted.
    if (!found && std::strstr(name, ".peak_sustained") == nullptr) return kCuptiInvalidParameter;
    const auto value = EvaluateMetric(name, entry.totals, entry.end_ns - entry.start_ns);
    if (!value) return kCuptiInvalidParameter;
    params->metric_values[i] = *value;
  }
  return kCuptiSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace utlz::fake
