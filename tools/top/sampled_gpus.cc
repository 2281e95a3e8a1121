#include "tools/top/sampled_gpus.h"

#include <algorithm>
#include <span>

#include "collector/counters/counter_set.h"
#include "collector/decode/parse.h"
#include "collector/decode/sample_decoder.h"
#include "collector/gpu_uuid.h"
#include "collector/text/shown_text.h"
#include "proto/frame.h"

namespace utlz::top {
namespace {

constexpr size_t kMostGpus = 64;
constexpr size_t kMostSets = 16;
constexpr uint64_t kCpuBurstNs = 100'000'000;

void AddRow(const CounterSet& counters, const std::vector<double>& row, double span_ns,
            SampleSum* sum) {
  const auto value = [&](MetricRole role) -> std::optional<double> {
    const auto index = counters.IndexOf(role);
    return index ? std::make_optional(row[*index]) : std::nullopt;
  };
  const auto elapsed = value(METRIC_SM_CYCLES_ELAPSED);
  const auto active = value(METRIC_SM_CYCLES_ACTIVE);
  const auto tensor = value(METRIC_TENSOR_ACTIVE);
  if (elapsed && active) {
    sum->sm_active += *active;
    sum->sm_elapsed += *elapsed;
  }
  if (elapsed && tensor) {
    sum->tensor += *tensor;
    sum->tensor_elapsed += *elapsed;
  }
  const auto read = value(METRIC_DRAM_READ_BYTES);
  const auto write = value(METRIC_DRAM_WRITE_BYTES);
  if (read && write) {
    sum->dram_bytes += *read + *write;
    sum->dram_ns += span_ns;
  }
}

std::optional<double> Percent(double part, double whole) {
  return whole > 0 ? std::make_optional(std::clamp(100 * part / whole, 0.0, 100.0)) : std::nullopt;
}

}  // namespace

std::unique_ptr<SampledGpus> SampledGpus::Start() {
  SamplerClientOptions options;
  options.options.duty_ppm = kDutyPpm;
  options.options.cpu_budget_ppm = kCpuBudgetPpm;
  options.options.cpu_burst_ns = kCpuBurstNs;
  options.options.all_devices = true;
  auto sampled = std::make_unique<SampledGpus>();
  absl::StatusOr<std::unique_ptr<SamplerClient>> client = SamplerClient::Start(options);
  if (client.ok()) {
    sampled->client_ = *std::move(client);
  } else {
    sampled->reason_ = std::string(client.status().message());
  }
  return sampled;
}

void SampledGpus::Read() {
  if (client_ == nullptr || !client_->running()) return;
  const absl::Status status =
      client_->Read([this](uint16_t type, std::string_view payload) { Consume(type, payload); });
  if (!status.ok()) reason_ = std::string(status.message());
}

void SampledGpus::Consume(uint16_t type, std::string_view payload) {
  const auto gpu_of = [this](const std::string& uuid) -> Gpu* {
    if (!gpus_.contains(uuid) && gpus_.size() >= kMostGpus) return nullptr;
    return &gpus_[uuid];
  };
  if (type == FRAME_METRIC_SET) {
    MetricSet set;
    if (!Parse(payload, &set)) return;
    Gpu* const gpu = gpu_of(set.device_uuid());
    if (gpu != nullptr && (gpu->sets.contains(set.id()) || gpu->sets.size() < kMostSets)) {
      gpu->sets[set.id()] = set;
    }
  } else if (type == FRAME_SAMPLES) {
    SampleBatch batch;
    if (!Parse(payload, &batch, kMaxFramePayloadBytes)) return;
    if (Gpu* const gpu = gpu_of(batch.device_uuid())) AddSamples(batch, gpu);
  } else if (type == FRAME_DEVICE_PEAKS) {
    DevicePeaks peaks;
    if (!Parse(payload, &peaks)) return;
    if (Gpu* const gpu = gpu_of(peaks.device_uuid())) gpu->peaks = peaks;
  } else if (type == FRAME_SAMPLER_STATUS) {
    SamplerStatus status;
    if (!Parse(payload, &status)) return;
    const std::string reason = EscapeForTerminal(status.reason());
    if (status.device_uuid().empty()) {
      reason_ = reason;
    } else if (Gpu* const gpu = gpu_of(status.device_uuid())) {
      gpu->reason = reason;
    }
  }
}

void SampledGpus::AddSamples(const SampleBatch& batch, Gpu* gpu) const {
  const auto set = gpu->sets.find(batch.metric_set());
  DecodedSamples samples;
  if (set == gpu->sets.end() || !DecodeSamples(batch, set->second, &samples)) return;
  const CounterSet counters(set->second, gpu->peaks ? gpu->peaks->multiprocessors() : 0);
  std::vector<double> row;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!counters.Convert(std::span(samples.row(i), samples.metrics), &row)) continue;
    AddRow(counters, row, static_cast<double>(samples.end_ns[i] - samples.start_ns[i]), &gpu->sum);
  }
}

void SampledGpus::Show(uint64_t now_ns, Gpu* gpu) {
  const SampleSum sum = std::exchange(gpu->sum, SampleSum());
  if (sum.sm_elapsed <= 0 && sum.dram_ns <= 0) return;
  gpu->shown_ns = now_ns;
  // A set that this window did not count keeps its value of the window before.
  if (const auto sm = Percent(sum.sm_active, sum.sm_elapsed)) gpu->shown.sm_active_percent = sm;
  if (const auto tensor = Percent(sum.tensor, sum.tensor_elapsed)) {
    gpu->shown.tensor_active_percent = tensor;
    gpu->shown.compute_percent = tensor;
  }
  const double peak = gpu->peaks ? gpu->peaks->dram_bytes_per_second() : 0;
  if (const auto dram = Percent(sum.dram_bytes, sum.dram_ns * 1e-9 * peak)) {
    gpu->shown.dram_active_percent = dram;
  }
}

void SampledGpus::Complete(uint64_t now_ns, GpuSnapshot* shown) {
  if (shown->source != ComputeSource::kNvml) return;
  for (auto& [uuid, gpu] : gpus_) {
    if (FormatGpuUuid(uuid) != shown->uuid) continue;
    Show(now_ns, &gpu);
    shown->source_reason = gpu.reason;
    if (gpu.shown_ns == 0 || now_ns > gpu.shown_ns + kStaleNs) return;
    shown->source = ComputeSource::kSampler;
    shown->sm_active_percent = gpu.shown.sm_active_percent;
    shown->tensor_active_percent = gpu.shown.tensor_active_percent;
    shown->compute_percent = gpu.shown.compute_percent;
    shown->dram_active_percent = gpu.shown.dram_active_percent;
    return;
  }
  shown->source_reason = reason_;
}

}  // namespace utlz::top
