#include "tests/unit/sampler/fake_cupti.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "collector/clocks.h"

namespace utlz {
namespace {

constexpr int kUnknownError = 999;

FakeCupti* g_fake = nullptr;

// What a host object is here: the names that it was given.
struct FakeHost {
  std::vector<std::string> names;
};

FakeHost* Host(cupti::HostObject* object) { return reinterpret_cast<FakeHost*>(object); }

int ResultString(int result, const char** name) {
  *name = result == cupti::kHardwareBusy ? "CUPTI_ERROR_HARDWARE_BUSY" : "CUPTI_ERROR";
  return 0;
}

int Version(uint32_t* version) {
  *version = 130001;
  return 0;
}

int ChipName(cupti::GetChipNameParams* params) {
  params->chip_name = g_fake->chip.c_str();
  return 0;
}

int Availability(cupti::PmGetCounterAvailabilityParams* params) {
  if (g_fake->availability_result != 0) return g_fake->availability_result;
  if (params->image == nullptr) params->image_size = 8;
  return 0;
}

int HostInitialize(cupti::HostInitializeParams* params) {
  params->host_object = reinterpret_cast<cupti::HostObject*>(new FakeHost);
  ++g_fake->hosts_alive;
  return 0;
}

int HostDeinitialize(cupti::HostDeinitializeParams* params) {
  delete Host(params->host_object);
  --g_fake->hosts_alive;
  return 0;
}

int AddMetrics(cupti::HostConfigAddMetricsParams* params) {
  for (size_t i = 0; i < params->metric_count; ++i) {
    if (g_fake->metrics.count(params->metric_names[i]) == 0) return cupti::kInvalidParameter;
    Host(params->host_object)->names.emplace_back(params->metric_names[i]);
  }
  return 0;
}

int ConfigImageSize(cupti::HostGetConfigImageSizeParams* params) {
  params->config_image_size = sizeof(uint64_t);
  return 0;
}

// The image holds the number of passes.
int ConfigImage(cupti::HostGetConfigImageParams* params) {
  uint64_t passes = 1;
  for (const std::string& name : Host(params->host_object)->names) {
    passes += g_fake->dear_metrics.count(name);
  }
  std::memcpy(params->config_image, &passes, sizeof(passes));
  return 0;
}

int Passes(cupti::HostGetNumOfPassesParams* params) {
  uint64_t passes = 0;
  std::memcpy(&passes, params->config_image, sizeof(passes));
  params->pass_count = passes;
  return 0;
}

int Evaluate(cupti::HostEvaluateParams* params) {
  for (size_t i = 0; i < params->metric_count; ++i) {
    const auto metric = g_fake->metrics.find(params->metric_names[i]);
    if (metric == g_fake->metrics.end()) return cupti::kInvalidParameter;
    params->metric_values[i] = metric->second;
  }
  return 0;
}

FakeCupti::Gpu* GpuOf(cupti::PmSamplingObject* object) {
  return reinterpret_cast<FakeCupti::Gpu*>(object);
}

int Enable(cupti::PmEnableParams* params) {
  if (g_fake->enable_result != 0) return g_fake->enable_result;
  FakeCupti::Gpu& gpu = g_fake->gpus[params->device_index];
  if (gpu.enabled) return cupti::kInvalidOperation;
  gpu = {.enabled = true};
  g_fake->enabled = true;
  ++g_fake->enables;
  params->object = reinterpret_cast<cupti::PmSamplingObject*>(&gpu);
  return 0;
}

int Disable(cupti::PmObjectParams* params) {
  GpuOf(params->object)->enabled = false;
  g_fake->enabled = std::any_of(g_fake->gpus.begin(), g_fake->gpus.end(),
                                [](const auto& entry) { return entry.second.enabled; });
  ++g_fake->disables;
  return 0;
}

int SetConfig(cupti::PmSetConfigParams* params) {
  if (g_fake->set_config_result != 0) return g_fake->set_config_result;
  ++g_fake->set_configs;
  g_fake->set_while_sampling = g_fake->set_while_sampling || g_fake->sampling > 0;
  FakeCupti::Gpu* const gpu = GpuOf(params->object);
  if (gpu->config != nullptr && gpu->config != params->config) gpu->config_replaced = true;
  gpu->config = params->config;
  g_fake->interval_ns = params->sampling_interval;
  g_fake->trigger_mode = params->trigger_mode;
  return 0;
}

int Start(cupti::PmObjectParams* params) {
  if (g_fake->start_result != 0) return g_fake->start_result;
  FakeCupti::Gpu* const gpu = GpuOf(params->object);
  if (gpu->poisoned || !gpu->enabled) return kUnknownError;
  gpu->began_beside = g_fake->sampling > 0;
  if (gpu->began_beside && g_fake->start_beside_result != 0) return g_fake->start_beside_result;
  const uint64_t begun_ns = MonotonicNs();
  while (MonotonicNs() < begun_ns + g_fake->start_takes_ns) {
  }
  ++g_fake->starts;
  g_fake->most_sampling = std::max(++g_fake->sampling, g_fake->most_sampling);
  return 0;
}

int Stop(cupti::PmObjectParams*) {
  ++g_fake->stops;
  --g_fake->sampling;
  return 0;
}

int Decode(cupti::PmDecodeDataParams* params) {
  params->overflow = g_fake->overflow;
  params->stop_reason = g_fake->fill_image ? cupti::kStopCounterDataFull : cupti::kStopEndOfRecords;
  FakeCupti::Gpu* const gpu = GpuOf(params->object);
  if (g_fake->decode_result == cupti::kOutOfMemory) gpu->poisoned = true;
  g_fake->decoded = gpu;
  g_fake->read_while_sampling = g_fake->read_while_sampling || g_fake->sampling > 0;
  return g_fake->decode_result;
}

int DataSize(cupti::PmGetCounterDataSizeParams* params) {
  g_fake->image_samples = params->max_samples;
  GpuOf(params->object)->size_asked = true;
  params->counter_data_size = g_fake->image_bytes_per_sample * params->max_samples;
  return 0;
}

int DataInitialize(cupti::PmCounterDataInitializeParams* params) {
  return GpuOf(params->object)->size_asked ? 0 : cupti::kInvalidOperation;
}

int DataInfo(cupti::PmGetCounterDataInfoParams* params) {
  const FakeCupti::Gpu& gpu = *g_fake->decoded;
  const bool none = gpu.config_replaced || (gpu.began_beside && g_fake->no_samples_beside);
  params->completed_samples = none ? 0 : g_fake->samples_per_window;
  return 0;
}

int SampleInfo(cupti::PmGetSampleInfoParams* params) {
  uint64_t index = params->sample_index;
  if (g_fake->gap_after_sample >= 0 &&
      params->sample_index > static_cast<size_t>(g_fake->gap_after_sample)) {
    ++index;
  }
  params->start_timestamp = g_fake->first_start_ns + index * g_fake->interval_ns;
  params->end_timestamp = params->start_timestamp + g_fake->interval_ns;
  return 0;
}

}  // namespace

FakeCupti::FakeCupti() { g_fake = this; }
FakeCupti::~FakeCupti() { g_fake = nullptr; }

CuptiTable FakeCupti::table() {
  CuptiTable table;
  table.get_version = Version;
  table.get_result_string = ResultString;
  table.profiler_initialize = [](cupti::InitializeParams*) { return 0; };
  table.device_get_chip_name = ChipName;
  table.host_initialize = HostInitialize;
  table.host_deinitialize = HostDeinitialize;
  table.host_config_add_metrics = AddMetrics;
  table.host_get_config_image_size = ConfigImageSize;
  table.host_get_config_image = ConfigImage;
  table.host_get_num_of_passes = Passes;
  table.host_evaluate_to_gpu_values = Evaluate;
  table.pm_enable = Enable;
  table.pm_disable = Disable;
  table.pm_set_config = SetConfig;
  table.pm_start = Start;
  table.pm_stop = Stop;
  table.pm_decode_data = Decode;
  table.pm_get_counter_availability = Availability;
  table.pm_get_counter_data_size = DataSize;
  table.pm_counter_data_initialize = DataInitialize;
  table.pm_get_counter_data_info = DataInfo;
  table.pm_get_sample_info = SampleInfo;
  return table;
}

}  // namespace utlz
