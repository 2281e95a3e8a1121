#include "collector/sampler/counters/nvml_totals.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "collector/clocks.h"
#include "collector/gpu_uuid.h"

namespace utlz {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;
constexpr size_t kMostProcesses = 256;  // of more NVML gives none

// Calls an optional function of NVML and gives its one number, or NaN.
template <typename Number, typename Function, typename... Arguments>
double Ask(Function function, Arguments... arguments) {
  Number value{};
  if (function == nullptr || function(arguments..., &value) != nvml::kSuccess) return kUnknown;
  return static_cast<double>(value);
}

// The GPM metrics, in the order in which ReadGpm adds them to the batch.
constexpr std::array kGpmMetrics = {
    nvml::kGpmSmActive,   nvml::kGpmSmOccupancy, nvml::kGpmTensorActive,
    nvml::kGpmDramActive, nvml::kGpmFp64Active,  nvml::kGpmFp32Active,
    nvml::kGpmFp16Active, nvml::kGpmPcieRx,      nvml::kGpmPcieTx};

}  // namespace

std::unique_ptr<NvmlTotals> NvmlTotals::Create(const NvmlTable& table, const std::string& uuid) {
  nvml::DeviceHandle* handle = nullptr;
  if (table.device_get_handle_by_uuid(FormatGpuUuid(uuid).c_str(), &handle) != nvml::kSuccess) {
    return nullptr;
  }
  return std::unique_ptr<NvmlTotals>(new NvmlTotals(table, handle, uuid));
}

NvmlTotals::NvmlTotals(const NvmlTable& table, nvml::DeviceHandle* handle, std::string uuid)
    : table_(table), handle_(handle), uuid_(std::move(uuid)) {
  StartGpm();
}

NvmlTotals::~NvmlTotals() {
  if (older_ != nullptr) table_.gpm_sample_free(older_);
  if (newer_ != nullptr) table_.gpm_sample_free(newer_);
}

void NvmlTotals::StartGpm() {
  const bool complete = table_.gpm_query_support != nullptr && table_.gpm_sample_alloc != nullptr &&
                        table_.gpm_sample_free != nullptr && table_.gpm_sample_get != nullptr &&
                        table_.gpm_metrics_get != nullptr;
  if (!complete) return;
  nvml::GpmSupport support;
  if (table_.gpm_query_support(handle_, &support) != nvml::kSuccess || support.supported == 0) {
    return;
  }
  nvml::GpmSampleHandle* first = nullptr;
  if (table_.gpm_sample_alloc(&first) != nvml::kSuccess) return;
  if (table_.gpm_sample_alloc(&newer_) != nvml::kSuccess) {
    table_.gpm_sample_free(first);
    return;
  }
  older_ = first;
  gpm_ = std::make_unique<nvml::GpmMetricsGet>();
}

void NvmlTotals::Read() { Read(readings() == 0); }

void NvmlTotals::ReadLast() { Read(true); }

void NvmlTotals::Read(bool with_energy) {
  batch_.add_time_ns(RealtimeNs());
  ReadPlain(with_energy);
  if (has_gpm()) ReadGpm();
}

void NvmlTotals::ReadPlain(bool with_energy) {
  nvml::Utilization utilization;
  const bool busy_known = table_.device_get_utilization != nullptr &&
                          table_.device_get_utilization(handle_, &utilization) == nvml::kSuccess;
  batch_.add_gpu_busy_percent(busy_known ? utilization.gpu : kUnknown);
  nvml::Memory memory;
  const bool memory_known = table_.device_get_memory != nullptr &&
                            table_.device_get_memory(handle_, &memory) == nvml::kSuccess;
  batch_.add_memory_used_bytes(memory_known ? static_cast<double>(memory.used) : kUnknown);
  batch_.add_power_milliwatts(Ask<unsigned>(table_.device_get_power, handle_));
  batch_.add_energy_millijoules(
      with_energy ? Ask<unsigned long long>(table_.device_get_energy, handle_) : kUnknown);
  batch_.add_sm_clock_mhz(
      Ask<unsigned>(table_.device_get_clock, handle_, unsigned{nvml::kClockSm}));
  batch_.add_memory_clock_mhz(
      Ask<unsigned>(table_.device_get_clock, handle_, unsigned{nvml::kClockMemory}));
  batch_.add_temperature_celsius(
      Ask<unsigned>(table_.device_get_temperature, handle_, unsigned{nvml::kTemperatureGpu}));
  unsigned long long limits = 0;
  const bool limits_known = table_.device_get_clock_limits != nullptr &&
                            table_.device_get_clock_limits(handle_, &limits) == nvml::kSuccess;
  clock_limits_ = limits_known ? limits : 0;
  batch_.add_clock_limit_reasons(clock_limits_);
}

void NvmlTotals::ReadGpm() {
  std::array<double, kGpmMetrics.size()> value;
  value.fill(kUnknown);
  if (table_.gpm_sample_get(handle_, newer_) == nvml::kSuccess) {
    if (has_older_) {
      gpm_->version = 1;
      gpm_->metric_count = kGpmMetrics.size();
      gpm_->sample1 = older_;
      gpm_->sample2 = newer_;
      for (size_t i = 0; i < kGpmMetrics.size(); ++i) {
        gpm_->metric[i] = nvml::GpmMetric{.id = kGpmMetrics[i]};
      }
      if (table_.gpm_metrics_get(gpm_.get()) == nvml::kSuccess) {
        for (size_t i = 0; i < kGpmMetrics.size(); ++i) {
          if (gpm_->metric[i].result == nvml::kSuccess) value[i] = gpm_->metric[i].value;
        }
      }
    }
    std::swap(older_, newer_);
    has_older_ = true;
  }
  batch_.add_gpm_sm_active_percent(value[0]);
  batch_.add_gpm_sm_occupancy_percent(value[1]);
  batch_.add_gpm_tensor_active_percent(value[2]);
  batch_.add_gpm_dram_active_percent(value[3]);
  batch_.add_gpm_fp64_active_percent(value[4]);
  batch_.add_gpm_fp32_active_percent(value[5]);
  batch_.add_gpm_fp16_active_percent(value[6]);
  batch_.add_pcie_rx_bytes_per_second(value[7] * kBytesPerMebibyte);
  batch_.add_pcie_tx_bytes_per_second(value[8] * kBytesPerMebibyte);
}

// Those with a context. This process makes none, but the driver may count it for its sampling.
void NvmlTotals::CountProcesses() {
  if (table_.device_get_compute_processes == nullptr) return;
  std::array<nvml::ProcessInfo, kMostProcesses> processes;
  unsigned count = processes.size();
  if (table_.device_get_compute_processes(handle_, &count, processes.data()) != nvml::kSuccess) {
    return;
  }
  const auto end = processes.begin() + std::min<size_t>(count, processes.size());
  const auto own = static_cast<unsigned>(getpid());
  batch_.set_compute_processes(static_cast<uint32_t>(
      std::count_if(processes.begin(), end, [own](const auto& one) { return one.pid != own; })));
}

DeviceTotalsBatch NvmlTotals::Take() {
  CountProcesses();
  DeviceTotalsBatch batch = std::move(batch_);
  batch_ = DeviceTotalsBatch();
  batch.set_device_uuid(uuid_);
  return batch;
}

}  // namespace utlz
