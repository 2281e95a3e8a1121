#include "collector/sampler/counters/pm_sampler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collector/clocks.h"

namespace utlz {
namespace {

// GA100 and Turing know no interval in time; their system clock runs at about this rate.
constexpr double kSystemCyclesPerNs = 1.4;

// A window may last this much longer than it was meant to, besides a tenth of its length.
constexpr uint64_t kStoppingNs = 500'000;

constexpr uint32_t kFewestImageSamples = 64;
constexpr uint32_t kMostImageSamples = 16384;
constexpr size_t kMostImageBytes = size_t{1} << 30;

bool SamplesBySystemClock(const std::string& chip) {
  return chip == "GA100" || absl::StartsWith(chip, "TU");
}

}  // namespace

absl::StatusOr<std::unique_ptr<PmSampler>> PmSampler::Create(const CuptiTable& table,
                                                             const PmSamplerOptions& options) {
  std::unique_ptr<PmSampler> sampler(new PmSampler(table, options));
  if (absl::Status status = sampler->Identify(); !status.ok()) return status;
  return sampler;
}

PmSampler::~PmSampler() { Disable(); }

absl::Status PmSampler::Identify() {
  cupti::InitializeParams initialize;
  if (int result = table_.profiler_initialize(&initialize); result != cupti::kSuccess) {
    return CuptiStatus(table_, result, "cuptiProfilerInitialize");
  }
  cupti::GetChipNameParams name;
  name.device_index = options_.device_index;
  if (int result = table_.device_get_chip_name(&name); result != cupti::kSuccess) {
    return CuptiStatus(table_, result, "cuptiDeviceGetChipName");
  }
  if (name.chip_name == nullptr) return absl::UnimplementedError("CUPTI does not know this GPU");
  chip_ = name.chip_name;

  cupti::PmGetCounterAvailabilityParams availability;
  availability.device_index = options_.device_index;
  if (int result = table_.pm_get_counter_availability(&availability); result != cupti::kSuccess) {
    return CuptiStatus(table_, result, "cuptiPmSamplingGetCounterAvailability");
  }
  availability_.resize(availability.image_size);
  availability.image = availability_.data();
  return CuptiStatus(table_, table_.pm_get_counter_availability(&availability),
                     "cuptiPmSamplingGetCounterAvailability");
}

absl::Status PmSampler::Configure(const SelectedMetrics& metrics, uint64_t interval_ns) {
  current_ = nullptr;
  const absl::StatusOr<Configuration*> configuration = ConfigurationFor(metrics, interval_ns);
  if (!configuration.ok()) return configuration.status();
  // CUPTI accepts another configuration while it is enabled, and then delivers no samples.
  if (configured_ != nullptr && configured_ != *configuration) Disable();
  absl::Status status = Enable();
  if (status.ok()) status = SetConfig(**configuration);
  // CUPTI's object remembers the sizes that it was last asked for, and refuses an image of others.
  if (status.ok()) status = MakeImage(*configuration);
  if (!status.ok()) {
    Disable();
    return status;
  }
  current_ = *configuration;
  configured_ = *configuration;
  return absl::OkStatus();
}

absl::StatusOr<PmSampler::Configuration*> PmSampler::ConfigurationFor(
    const SelectedMetrics& metrics, uint64_t interval_ns) {
  std::vector<std::string> names = MetricNames(metrics);
  for (const auto& known : configurations_) {
    if (known->names == names && known->interval_ns == interval_ns) return known.get();
  }
  absl::StatusOr<ProfilerHost> host = ProfilerHost::Create(table_, chip_, availability_, names);
  if (!host.ok()) return host.status();
  auto configuration = std::make_unique<Configuration>();
  configuration->names = std::move(names);
  for (const std::string& name : configuration->names) {
    configuration->name_pointers.push_back(name.c_str());
  }
  configuration->host.emplace(*std::move(host));
  configuration->interval_ns = interval_ns;
  configurations_.push_back(std::move(configuration));
  return configurations_.back().get();
}

absl::Status PmSampler::Enable() {
  if (object_ != nullptr) return absl::OkStatus();
  cupti::PmEnableParams enable;
  enable.device_index = options_.device_index;
  const int result = table_.pm_enable(&enable);
  if (result == cupti::kSuccess) object_ = enable.object;
  return CuptiStatus(table_, result, "cuptiPmSamplingEnable");
}

absl::Status PmSampler::SetConfig(const Configuration& configuration) {
  cupti::PmSetConfigParams config;
  config.object = object_;
  config.config = configuration.host->config_image().data();
  config.config_size = configuration.host->config_image().size();
  config.hardware_buffer_size = options_.hardware_buffer_bytes;
  config.sampling_interval = configuration.interval_ns;
  if (SamplesBySystemClock(chip_)) {
    config.trigger_mode = cupti::kTriggerSysclk;
    config.sampling_interval =
        static_cast<uint64_t>(static_cast<double>(configuration.interval_ns) * kSystemCyclesPerNs);
  }
  return CuptiStatus(table_, table_.pm_set_config(&config), "cuptiPmSamplingSetConfig");
}

absl::StatusOr<size_t> PmSampler::ImageBytes(Configuration* configuration, uint32_t samples) {
  cupti::PmGetCounterDataSizeParams size;
  size.object = object_;
  size.metric_names = configuration->name_pointers.data();
  size.metric_count = configuration->name_pointers.size();
  size.max_samples = samples;
  if (int result = table_.pm_get_counter_data_size(&size); result != cupti::kSuccess) {
    return CuptiStatus(table_, result, "cuptiPmSamplingGetCounterDataSize");
  }
  return size.counter_data_size;
}

absl::Status PmSampler::MakeImage(Configuration* configuration) {
  const absl::StatusOr<size_t> few_bytes = ImageBytes(configuration, kFewestImageSamples);
  if (!few_bytes.ok()) return few_bytes.status();
  const size_t sample_bytes = std::max<size_t>(1, *few_bytes / kFewestImageSamples);
  configuration->image_samples = static_cast<uint32_t>(std::clamp<size_t>(
      options_.image_bytes / sample_bytes, kFewestImageSamples, kMostImageSamples));
  const absl::StatusOr<size_t> bytes = ImageBytes(configuration, configuration->image_samples);
  if (!bytes.ok()) return bytes.status();
  if (*bytes > kMostImageBytes) {
    return absl::InternalError(absl::StrCat("CUPTI asks for an image of ", *bytes, " bytes"));
  }
  if (*bytes > image_.capacity()) image_ = {};  // never two of them at once
  image_.resize(*bytes);
  return InitializeImage();
}

absl::Status PmSampler::InitializeImage() {
  cupti::PmCounterDataInitializeParams initialize;
  initialize.object = object_;
  initialize.counter_data_size = image_.size();
  initialize.counter_data = image_.data();
  return CuptiStatus(table_, table_.pm_counter_data_initialize(&initialize),
                     "cuptiPmSamplingCounterDataImageInitialize");
}

uint64_t PmSampler::longest_window_ns() const {
  if (current_ == nullptr) return 0;
  const uint64_t held_ns = current_->image_samples * current_->interval_ns / 10 * 9;
  return held_ns - std::min(held_ns / 2, kStoppingNs);
}

absl::Status PmSampler::Start() {
  cupti::PmObjectParams start;
  start.object = object_;
  started_ns_ = MonotonicNs();
  return CuptiStatus(table_, table_.pm_start(&start), "cuptiPmSamplingStart");
}

absl::Status PmSampler::Stop() {
  cupti::PmObjectParams stop;
  stop.object = object_;
  const absl::Status status = CuptiStatus(table_, table_.pm_stop(&stop), "cuptiPmSamplingStop");
  stopped_ns_ = MonotonicNs();
  if (!status.ok()) Disable();
  return status;
}

absl::StatusOr<WindowResult> PmSampler::Read(const SampleSink& sink) {
  const uint64_t expected = (stopped_ns_ - started_ns_) / current_->interval_ns;
  WindowResult result;
  if (absl::Status status = Decode(sink, &result); !status.ok()) {
    Disable();
    return status;
  }
  if (result.overflow) {
    result.lost = std::max(result.lost, expected - std::min(expected, result.samples));
  }
  return result;
}

absl::Status PmSampler::Decode(const SampleSink& sink, WindowResult* result) {
  if (absl::Status status = InitializeImage(); !status.ok()) return status;
  cupti::PmDecodeDataParams decode;
  decode.object = object_;
  decode.counter_data_image = image_.data();
  decode.counter_data_image_size = image_.size();
  const int decoded = table_.pm_decode_data(&decode);
  const bool hardware_overflow = decode.overflow != 0 || decoded == cupti::kOutOfMemory;
  result->overflow = hardware_overflow || decode.stop_reason == cupti::kStopCounterDataFull;
  absl::Status status;
  if (decoded == cupti::kSuccess) {
    status = Emit(sink, result);
  } else if (!hardware_overflow) {
    status = CuptiStatus(table_, decoded, "cuptiPmSamplingDecodeData");
  }
  // CUPTI starts no more after an overflow unless it was disabled in between.
  if (hardware_overflow) Disable();
  return status;
}

absl::Status PmSampler::Emit(const SampleSink& sink, WindowResult* result) {
  cupti::PmGetCounterDataInfoParams info;
  info.counter_data_image = image_.data();
  info.counter_data_image_size = image_.size();
  if (int status = table_.pm_get_counter_data_info(&info); status != cupti::kSuccess) {
    return CuptiStatus(table_, status, "cuptiPmSamplingGetCounterDataInfo");
  }
  const size_t samples = std::min<size_t>(info.completed_samples, current_->image_samples);
  std::vector<double> values(current_->names.size());
  uint64_t last_end_ns = 0;
  for (size_t sample = 0; sample < samples; ++sample) {
    cupti::PmGetSampleInfoParams times;
    times.object = object_;
    times.counter_data_image = image_.data();
    times.counter_data_image_size = image_.size();
    times.sample_index = sample;
    if (int status = table_.pm_get_sample_info(&times); status != cupti::kSuccess) {
      return CuptiStatus(table_, status, "cuptiPmSamplingCounterDataGetSampleInfo");
    }
    if (sample != 0 && times.start_timestamp > last_end_ns) {
      result->lost += (times.start_timestamp - last_end_ns) / current_->interval_ns;
    }
    last_end_ns = times.end_timestamp;
    // The first one of a window is garbage.
    if (sample == 0) continue;
    if (!current_->host->Evaluate(image_, sample, current_->name_pointers, values).ok()) {
      ++result->lost;
      continue;
    }
    ++result->samples;
    sink(times.start_timestamp, times.end_timestamp, values);
  }
  return absl::OkStatus();
}

void PmSampler::Disable() {
  current_ = nullptr;
  configured_ = nullptr;
  if (object_ == nullptr) return;
  cupti::PmObjectParams disable;
  disable.object = object_;
  table_.pm_disable(&disable);
  object_ = nullptr;
}

std::optional<double> PmSampler::EvaluateConstant(const std::string& metric) const {
  if (current_ == nullptr) return std::nullopt;
  const char* name = metric.c_str();
  double value = 0;
  const absl::Status status =
      current_->host->Evaluate(image_, 0, std::span(&name, 1), std::span(&value, 1));
  if (!status.ok() || !(value > 0)) return std::nullopt;
  return value;
}

}  // namespace utlz
