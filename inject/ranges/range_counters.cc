#include "inject/ranges/range_counters.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#include "cupti/file_pages.h"
#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

// In order of worth: each is added if the chip still counts all of them in one pass. Names that a
// chip lacks are refused by the host API and left out.
constexpr const char* kCandidates[] = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__pipe_tensor_cycles_active.sum",
    "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum",
    "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
    "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp8.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "sm__inst_executed_pipe_fma.sum",
    "sm__inst_executed_pipe_fp64.sum",
    "sm__cycles_elapsed.max",
    "gpu__time_duration.sum",
    "lts__t_bytes.sum",
};

constexpr size_t kMaxConfigBytes = 16 << 20;
// 20 MB of code and constants between them, of no use once the ranges are read. The driver
// would load the compiler when the counters start.
constexpr const char kHostLibrary[] = "libnvperf_host.so";
constexpr const char kCompilerLibrary[] = "libnvidia-ptxjitcompiler.so";
constexpr const char kCompilerFile[] = "libnvidia-ptxjitcompiler.so.1";

template <typename Params>
Params Sized(size_t bytes) {
  Params params{};
  params.head.struct_size = bytes;
  return params;
}

// CUPTI checks structure sizes: up to the end of the last field, without padding.
#define UTLZ_SIZED(Params, last) \
  Sized<cupti::Params>(offsetof(cupti::Params, last) + sizeof(cupti::Params::last))

}  // namespace

bool RangeCounters::Ok(cupti::Result result) {
  if (result != cupti::kSuccess) last_error_ = result;
  return result == cupti::kSuccess;
}

void RangeCounters::ReleaseHost() {
  if (host_ == nullptr) return;
  auto end = cupti::HostDeinitializeParams{};
  end.host_object = host_;
  api_->host_deinitialize(&end);
  host_ = nullptr;
}

// Makes host_ and config_ for the metrics chosen so far.
bool RangeCounters::BuildConfig(const char* chip) {
  ReleaseHost();
  auto begin = cupti::HostInitializeParams{};
  begin.profiler_type = utlz::cupti::kRangeProfiler;
  begin.chip_name = chip;
  if (!Ok(api_->host_initialize(&begin))) return false;
  host_ = begin.host_object;
  auto add = cupti::HostConfigAddMetricsParams{};
  add.host_object = host_;
  add.metric_names = names_;
  add.metric_count = metrics_;
  if (!Ok(api_->host_config_add_metrics(&add))) return false;
  auto size = cupti::HostGetConfigImageSizeParams{};
  size.host_object = host_;
  if (!Ok(api_->host_get_config_image_size(&size))) return false;
  if (size.config_image_size == 0 || size.config_image_size > kMaxConfigBytes) return false;
  if (config_ == nullptr) config_ = MapArray<uint8_t>(kMaxConfigBytes);
  if (config_ == nullptr) return false;
  config_bytes_ = size.config_image_size;
  auto image = cupti::HostGetConfigImageParams{};
  image.host_object = host_;
  image.config_image_size = config_bytes_;
  image.config_image = config_;
  return Ok(api_->host_get_config_image(&image));
}

bool RangeCounters::OnePass(const char* chip) {
  if (!BuildConfig(chip)) return false;
  auto passes = cupti::HostGetNumOfPassesParams{};
  passes.config_image_size = config_bytes_;
  passes.config_image = config_;
  return Ok(api_->host_get_num_of_passes(&passes)) && passes.pass_count == 1;
}

bool RangeCounters::AddMetric(const char* name, const char* chip) {
  names_[metrics_++] = name;
  if (OnePass(chip)) return true;
  --metrics_;
  return false;
}

bool RangeCounters::Load(const CuptiApi* api) {
  api_ = api;
  if (!api->has_ranges) return false;
  had_host_library_ = IsLoaded(kHostLibrary);
  had_compiler_ = IsLoaded(kCompilerLibrary);
  LoadNvperf(*api);
  dlopen(kCompilerFile, RTLD_LAZY | RTLD_LOCAL);
  return true;
}

bool RangeCounters::Configure(uint32_t device_index) {
  auto begin = cupti::InitializeParams{};
  if (!Ok(api_->profiler_initialize(&begin))) return false;
  auto chip = cupti::GetChipNameParams{};
  chip.device_index = device_index;
  if (!Ok(api_->device_get_chip_name(&chip)) || chip.chip_name == nullptr) return false;
  return ConfigureFor(chip.chip_name);
}

bool RangeCounters::ConfigureFor(const char* chip) {
  for (const char* name : kCandidates) {
    if (metrics_ < kMaxMetrics) AddMetric(name, chip);
  }
  return metrics_ != 0 && BuildConfig(chip);
}

bool RangeCounters::Start(cupti::Context context) {
  auto enable = UTLZ_SIZED(RangeEnableParams, profiler);
  enable.context = context;
  if (!Ok(api_->range_enable(&enable))) return false;
  profiler_ = enable.profiler;
  auto size = UTLZ_SIZED(RangeCounterDataSizeParams, counter_data_bytes);
  size.profiler = profiler_;
  size.metric_names = names_;
  size.metrics = metrics_;
  size.max_ranges = kMaxRanges;
  size.max_range_tree_nodes = kMaxRanges;
  if (!Ok(api_->range_counter_data_size(&size))) return false;
  constexpr size_t kMaxCounterDataBytes = 256 << 20;
  if (size.counter_data_bytes == 0 || size.counter_data_bytes > kMaxCounterDataBytes) return false;
  counter_data_bytes_ = size.counter_data_bytes;
  counter_data_ = MapArray<uint8_t>(counter_data_bytes_);
  if (counter_data_ == nullptr) return false;
  auto image = UTLZ_SIZED(RangeCounterDataInitializeParams, counter_data);
  image.profiler = profiler_;
  image.counter_data_bytes = counter_data_bytes_;
  image.counter_data = counter_data_;
  if (!Ok(api_->range_counter_data_initialize(&image))) return false;
  auto set = UTLZ_SIZED(RangeSetConfigParams, target_nesting_level);
  set.profiler = profiler_;
  set.config_bytes = config_bytes_;
  set.config = config_;
  set.counter_data_bytes = counter_data_bytes_;
  set.counter_data = counter_data_;
  set.range_mode = cupti::kUserRange;
  set.replay_mode = cupti::kUserReplay;
  set.max_ranges_per_pass = kMaxRanges;
  set.nesting_levels = 1;
  set.min_nesting_level = 1;
  set.target_nesting_level = 1;
  if (!Ok(api_->range_set_config(&set))) return false;
  auto start = UTLZ_SIZED(RangeObjectParams, profiler);
  start.profiler = profiler_;
  return Ok(api_->range_start(&start));
}

bool RangeCounters::Push(uint32_t index) {
  char name[16];
  snprintf(name, sizeof name, "%u", index);
  auto push = UTLZ_SIZED(RangePushParams, name);
  push.profiler = profiler_;
  push.name = name;
  return Ok(api_->range_push(&push));
}

bool RangeCounters::Pop() {
  auto pop = UTLZ_SIZED(RangeObjectParams, profiler);
  pop.profiler = profiler_;
  return Ok(api_->range_pop(&pop));
}

bool RangeCounters::Stop() {
  auto stop = UTLZ_SIZED(RangeStopParams, all_passes_submitted);
  stop.profiler = profiler_;
  return Ok(api_->range_stop(&stop));
}

bool RangeCounters::Decode() {
  auto decode = UTLZ_SIZED(RangeDecodeParams, ranges_dropped);
  decode.profiler = profiler_;
  return Ok(api_->range_decode(&decode));
}

uint32_t RangeCounters::Ranges() {
  auto info = UTLZ_SIZED(RangeCounterDataInfoParams, ranges);
  info.counter_data = counter_data_;
  info.counter_data_bytes = counter_data_bytes_;
  if (!Ok(api_->range_counter_data_info(&info))) return 0;
  return info.ranges < kMaxRanges ? static_cast<uint32_t>(info.ranges) : kMaxRanges;
}

bool RangeCounters::Evaluate(uint32_t range, double* values) {
  auto evaluate = cupti::HostEvaluateParams{};
  evaluate.host_object = host_;
  evaluate.counter_data_image = counter_data_;
  evaluate.counter_data_image_size = counter_data_bytes_;
  evaluate.range_index = range;
  evaluate.metric_names = names_;
  evaluate.metric_count = metrics_;
  evaluate.metric_values = values;
  return Ok(api_->host_evaluate(&evaluate));
}

void RangeCounters::Release() {
  if (profiler_ != nullptr) {
    auto disable = UTLZ_SIZED(RangeObjectParams, profiler);
    disable.profiler = profiler_;
    api_->range_disable(&disable);
    profiler_ = nullptr;
  }
  if (counter_data_ != nullptr) munmap(counter_data_, counter_data_bytes_);
  counter_data_ = nullptr;
  ReleaseHost();
  if (config_ != nullptr) munmap(config_, kMaxConfigBytes);
  config_ = nullptr;
  if (!had_host_library_) ReleaseFilePages(kHostLibrary);
  if (!had_compiler_) ReleaseFilePages(kCompilerLibrary);
}

}  // namespace utlz::agent
