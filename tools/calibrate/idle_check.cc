#include "tools/calibrate/idle_check.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "collector/gpu_uuid.h"

namespace utlz {
namespace {

// NVML's own period is between a sixth of a second and a second.
constexpr int kReadings = 6;
constexpr std::chrono::milliseconds kBetweenReadings(200);

}  // namespace

NvmlDevice::NvmlDevice(const std::string& uuid) {
  absl::StatusOr<NvmlTable> table = LoadNvml();
  if (!table.ok()) return;
  table_ = *table;
  if (table_->device_get_handle_by_uuid(FormatGpuUuid(uuid).c_str(), &handle_) != nvml::kSuccess) {
    handle_ = nullptr;
  }
}

std::optional<double> NvmlDevice::BusyShare() const {
  if (handle_ == nullptr || table_->device_get_utilization == nullptr) return std::nullopt;
  std::optional<double> highest;
  for (int i = 0; i < kReadings; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenReadings);
    nvml::Utilization utilization;
    if (table_->device_get_utilization(handle_, &utilization) != nvml::kSuccess) continue;
    highest = std::max(highest.value_or(0), utilization.gpu * 0.01);
  }
  return highest;
}

std::optional<double> NvmlDevice::SmClockHz() const {
  unsigned megahertz = 0;
  if (handle_ == nullptr || table_->device_get_clock == nullptr ||
      table_->device_get_clock(handle_, nvml::kClockSm, &megahertz) != nvml::kSuccess) {
    return std::nullopt;
  }
  return megahertz * 1e6;
}

std::string NvmlDevice::driver_version() const {
  return table_.has_value() ? NvmlDriverVersion(*table_).value_or("") : "";
}

}  // namespace utlz
