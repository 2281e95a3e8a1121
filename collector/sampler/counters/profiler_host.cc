#include "collector/sampler/counters/profiler_host.h"

#include <utility>

namespace utlz {

absl::StatusOr<ProfilerHost> ProfilerHost::Create(const CuptiTable& table, const std::string& chip,
                                                  const std::vector<uint8_t>& availability,
                                                  const std::vector<std::string>& metrics) {
  ProfilerHost host(&table);
  if (absl::Status status = host.Configure(chip, availability, metrics); !status.ok()) {
    return status;
  }
  return host;
}

absl::Status ProfilerHost::Configure(const std::string& chip,
                                     const std::vector<uint8_t>& availability,
                                     const std::vector<std::string>& metrics) {
  cupti::HostInitializeParams initialize;
  initialize.chip_name = chip.c_str();
  initialize.counter_availability_image = availability.empty() ? nullptr : availability.data();
  if (int result = table_->host_initialize(&initialize); result != cupti::kSuccess) {
    return CuptiStatus(*table_, result, "cuptiProfilerHostInitialize");
  }
  object_ = initialize.host_object;

  std::vector<const char*> names;
  names.reserve(metrics.size());
  for (const std::string& metric : metrics) names.push_back(metric.c_str());
  cupti::HostConfigAddMetricsParams add;
  add.host_object = object_;
  add.metric_names = names.data();
  add.metric_count = names.size();
  if (int result = table_->host_config_add_metrics(&add); result != cupti::kSuccess) {
    return CuptiStatus(*table_, result, "cuptiProfilerHostConfigAddMetrics");
  }

  cupti::HostGetConfigImageSizeParams size;
  size.host_object = object_;
  if (int result = table_->host_get_config_image_size(&size); result != cupti::kSuccess) {
    return CuptiStatus(*table_, result, "cuptiProfilerHostGetConfigImageSize");
  }
  config_image_.resize(size.config_image_size);
  cupti::HostGetConfigImageParams image;
  image.host_object = object_;
  image.config_image_size = config_image_.size();
  image.config_image = config_image_.data();
  if (int result = table_->host_get_config_image(&image); result != cupti::kSuccess) {
    return CuptiStatus(*table_, result, "cuptiProfilerHostGetConfigImage");
  }

  cupti::HostGetNumOfPassesParams count;
  count.config_image_size = config_image_.size();
  count.config_image = config_image_.data();
  if (int result = table_->host_get_num_of_passes(&count); result != cupti::kSuccess) {
    return CuptiStatus(*table_, result, "cuptiProfilerHostGetNumOfPasses");
  }
  passes_ = count.pass_count;
  return absl::OkStatus();
}

ProfilerHost::ProfilerHost(ProfilerHost&& other) noexcept
    : table_(other.table_),
      object_(std::exchange(other.object_, nullptr)),
      config_image_(std::move(other.config_image_)),
      passes_(other.passes_) {}

ProfilerHost& ProfilerHost::operator=(ProfilerHost&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(object_, other.object_);
  std::swap(config_image_, other.config_image_);
  std::swap(passes_, other.passes_);
  return *this;
}

ProfilerHost::~ProfilerHost() {
  if (object_ == nullptr) return;
  cupti::HostDeinitializeParams params;
  params.host_object = object_;
  table_->host_deinitialize(&params);
}

absl::Status ProfilerHost::Evaluate(std::span<const uint8_t> counter_data, size_t sample,
                                    std::span<const char* const> metrics,
                                    std::span<double> values) const {
  cupti::HostEvaluateParams params;
  params.host_object = object_;
  params.counter_data_image = counter_data.data();
  params.counter_data_image_size = counter_data.size();
  params.range_index = sample;
  // CUPTI declares the array of names as writable and does not write it.
  params.metric_names = const_cast<const char**>(metrics.data());
  params.metric_count = metrics.size();
  params.metric_values = values.data();
  return CuptiStatus(*table_, table_->host_evaluate_to_gpu_values(&params),
                     "cuptiProfilerHostEvaluateToGpuValues");
}

absl::StatusOr<std::vector<std::string>> SupportedChips(const CuptiTable& table) {
  cupti::HostGetSupportedChipsParams params;
  if (int result = table.host_get_supported_chips(&params); result != cupti::kSuccess) {
    return CuptiStatus(table, result, "cuptiProfilerHostGetSupportedChips");
  }
  return std::vector<std::string>(params.chip_names, params.chip_names + params.chip_count);
}

}  // namespace utlz
