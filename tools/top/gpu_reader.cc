#include "tools/top/gpu_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tools/top/attained.h"

namespace utlz::top {
namespace {

constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;
constexpr double kNsPerSecond = 1e9;
constexpr uint64_t kTrendNs = 60'000'000'000;
constexpr size_t kMostProcesses = 256;  // of more NVML gives none
constexpr unsigned long long kUnknownMemory = ~0ull;

struct GpmValue {
  nvml::GpmMetricId id;
  std::optional<double> GpuSnapshot::*field;
  double unit;
};

constexpr std::array kGpmValues = {
    GpmValue{nvml::kGpmSmActive, &GpuSnapshot::sm_active_percent, 1},
    GpmValue{nvml::kGpmSmOccupancy, &GpuSnapshot::sm_occupancy_percent, 1},
    GpmValue{nvml::kGpmTensorActive, &GpuSnapshot::tensor_active_percent, 1},
    GpmValue{nvml::kGpmDramActive, &GpuSnapshot::dram_active_percent, 1},
    GpmValue{nvml::kGpmFp64Active, nullptr, 1},
    GpmValue{nvml::kGpmFp32Active, nullptr, 1},
    GpmValue{nvml::kGpmFp16Active, nullptr, 1},
    GpmValue{nvml::kGpmPcieRx, &GpuSnapshot::pcie_rx_bytes_per_second, kBytesPerMebibyte},
    GpmValue{nvml::kGpmPcieTx, &GpuSnapshot::pcie_tx_bytes_per_second, kBytesPerMebibyte},
    GpmValue{nvml::kGpmNvlinkRx, &GpuSnapshot::nvlink_rx_bytes_per_second, kBytesPerMebibyte},
    GpmValue{nvml::kGpmNvlinkTx, &GpuSnapshot::nvlink_tx_bytes_per_second, kBytesPerMebibyte}};

bool Computes(nvml::GpmMetricId id) {
  return id == nvml::kGpmTensorActive || id == nvml::kGpmFp64Active || id == nvml::kGpmFp32Active ||
         id == nvml::kGpmFp16Active;
}

// Calls an optional function of NVML and gives its one number.
template <typename Number, typename Function, typename... Arguments>
std::optional<Number> Ask(Function function, Arguments... arguments) {
  Number value{};
  if (function == nullptr || function(arguments..., &value) != nvml::kSuccess) return std::nullopt;
  return value;
}

template <typename Function>
std::string AskText(Function function, nvml::DeviceHandle* handle) {
  char text[97] = {};
  if (function == nullptr || function(handle, text, sizeof(text) - 1) != nvml::kSuccess) return {};
  return text;
}

std::optional<double> Thousandth(std::optional<unsigned> value) {
  return value ? std::optional<double>(*value / 1e3) : std::nullopt;
}

bool HasGpm(const NvmlTable& table, nvml::DeviceHandle* handle) {
  const bool complete = table.gpm_query_support != nullptr && table.gpm_sample_alloc != nullptr &&
                        table.gpm_sample_free != nullptr && table.gpm_sample_get != nullptr &&
                        table.gpm_metrics_get != nullptr;
  nvml::GpmSupport support;
  return complete && table.gpm_query_support(handle, &support) == nvml::kSuccess &&
         support.supported != 0;
}

}  // namespace

GpuReader::GpuReader(const NvmlTable& table, unsigned index, nvml::DeviceHandle* handle)
    : table_(table), handle_(handle) {
  fixed_.index = index;
  ReadFixed();
  if (HasGpm(table_, handle_)) StartGpm();
}

GpuReader::~GpuReader() {
  if (older_ != nullptr) table_.gpm_sample_free(older_);
  if (newer_ != nullptr) table_.gpm_sample_free(newer_);
}

void GpuReader::ReadFixed() {
  fixed_.name = AskText(table_.device_get_name, handle_);
  fixed_.uuid = AskText(table_.device_get_uuid, handle_);
  fixed_.sm_clock_max_mhz =
      Ask<unsigned>(table_.device_get_max_clock, handle_, unsigned{nvml::kClockSm});
}

void GpuReader::SetCeilings(const std::vector<DeviceCeilings>& all) {
  GpuShape shape;
  shape.memory_clock_mhz =
      Ask<unsigned>(table_.device_get_max_clock, handle_, unsigned{nvml::kClockMemory}).value_or(0);
  shape.memory_bus_bits = Ask<unsigned>(table_.device_get_bus_width, handle_).value_or(0);
  shape.cores = Ask<unsigned>(table_.device_get_core_count, handle_).value_or(0);
  if (table_.device_get_compute_capability == nullptr ||
      table_.device_get_compute_capability(handle_, &shape.compute_capability_major,
                                           &shape.compute_capability_minor) != nvml::kSuccess) {
    shape.compute_capability_major = 0;
  }
  for (const DeviceCeilings& ceilings : all) {
    if (ceilings.uuid() != fixed_.uuid || fixed_.uuid.empty()) continue;
    const AttainedPercent attained = AttainedOf(ceilings, shape);
    fixed_.attained_compute_percent = attained.compute;
    fixed_.attained_dram_percent = attained.dram;
  }
}

void GpuReader::StartGpm() {
  nvml::GpmSampleHandle* first = nullptr;
  if (table_.gpm_sample_alloc(&first) != nvml::kSuccess) return;
  if (table_.gpm_sample_alloc(&newer_) != nvml::kSuccess) {
    newer_ = nullptr;
    table_.gpm_sample_free(first);
    return;
  }
  older_ = first;
  gpm_ = std::make_unique<nvml::GpmMetricsGet>();
}

GpuSnapshot GpuReader::Read(uint64_t time_ns) {
  GpuSnapshot gpu = fixed_;
  ReadState(&gpu);
  ReadMemory(time_ns, &gpu);
  if (older_ != nullptr) ReadGpm(&gpu);
  ReadProcesses(&gpu);
  return gpu;
}

void GpuReader::ReadState(GpuSnapshot* gpu) const {
  if (const auto busy = Ask<nvml::Utilization>(table_.device_get_utilization, handle_)) {
    gpu->gpu_util_percent = busy->gpu;
  }
  gpu->sm_clock_mhz = Ask<unsigned>(table_.device_get_clock, handle_, unsigned{nvml::kClockSm});
  gpu->memory_clock_mhz =
      Ask<unsigned>(table_.device_get_clock, handle_, unsigned{nvml::kClockMemory});
  gpu->clock_limit_reasons = Ask<unsigned long long>(table_.device_get_clock_limits, handle_);
  gpu->power_watts = Thousandth(Ask<unsigned>(table_.device_get_power, handle_));
  gpu->power_limit_watts = Thousandth(Ask<unsigned>(table_.device_get_power_limit, handle_));
  gpu->temperature_celsius =
      Ask<unsigned>(table_.device_get_temperature, handle_, unsigned{nvml::kTemperatureGpu});
}

void GpuReader::ReadMemory(uint64_t time_ns, GpuSnapshot* gpu) {
  const auto memory = Ask<nvml::Memory>(table_.device_get_memory, handle_);
  if (!memory) return;
  gpu->memory_used_bytes = memory->used;
  gpu->memory_total_bytes = memory->total;
  while (!memory_.empty() && memory_.front().time_ns + kTrendNs < time_ns) memory_.pop_front();
  if (!memory_.empty() && memory_.front().time_ns < time_ns) {
    const double change =
        static_cast<double>(memory->used) - static_cast<double>(memory_.front().used_bytes);
    gpu->memory_change_bytes_per_second =
        change / (static_cast<double>(time_ns - memory_.front().time_ns) / kNsPerSecond);
  }
  memory_.push_back({time_ns, memory->used});
}

void GpuReader::ReadGpm(GpuSnapshot* gpu) {
  if (table_.gpm_sample_get(handle_, newer_) != nvml::kSuccess) return;
  if (has_older_) {
    gpm_->version = 1;
    gpm_->metric_count = kGpmValues.size();
    gpm_->sample1 = older_;
    gpm_->sample2 = newer_;
    for (size_t i = 0; i < kGpmValues.size(); ++i) {
      gpm_->metric[i] = nvml::GpmMetric{.id = kGpmValues[i].id};
    }
    if (table_.gpm_metrics_get(gpm_.get()) == nvml::kSuccess) {
      for (size_t i = 0; i < kGpmValues.size(); ++i) {
        if (gpm_->metric[i].result != nvml::kSuccess) continue;
        const GpmValue& known = kGpmValues[i];
        const double value = gpm_->metric[i].value * known.unit;
        if (known.field != nullptr) gpu->*known.field = value;
        if (Computes(known.id))
          gpu->compute_percent = std::max(value, gpu->compute_percent.value_or(0));
        gpu->source = ComputeSource::kGpm;
      }
    }
  }
  std::swap(older_, newer_);
  has_older_ = true;
}

void GpuReader::ReadProcesses(GpuSnapshot* gpu) const {
  if (table_.device_get_compute_processes == nullptr) return;
  std::array<nvml::ProcessInfo, kMostProcesses> listed;
  unsigned count = listed.size();
  if (table_.device_get_compute_processes(handle_, &count, listed.data()) != nvml::kSuccess) {
    return;
  }
  gpu->processes.emplace();
  for (size_t i = 0; i < std::min<size_t>(count, listed.size()); ++i) {
    ProcessSnapshot process = {.pid = static_cast<pid_t>(listed[i].pid)};
    if (listed[i].used_gpu_memory != kUnknownMemory) {
      process.memory_bytes = listed[i].used_gpu_memory;
    }
    gpu->processes->push_back(std::move(process));
  }
}

}  // namespace utlz::top
