#include "tools/report/device_roofs.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

// Drivers round the clocks that peaks are computed from.
constexpr double kSameRoof = 0.02;

// What one of them does not know does not speak against the other.
bool Agree(double a, double b) {
  return a <= 0 || b <= 0 || std::abs(a - b) <= kSameRoof * std::max(a, b);
}

bool PeaksAgree(const DeviceSummary& a, const DeviceSummary& b) {
  for (const PeakSummary& peak : a.peaks()) {
    for (const PeakSummary& other : b.peaks()) {
      if (peak.data_type() == other.data_type() &&
          !Agree(peak.flops_per_second_maximum_clock(), other.flops_per_second_maximum_clock())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

DeviceIndex::DeviceIndex(const Summary& summary) {
  for (int i = 0; i < summary.devices_size(); ++i) {
    by_uuid_.try_emplace(summary.devices(i).uuid(), i);
  }
}

int DeviceIndex::Of(const KernelSummary& kernel) const {
  const auto found = by_uuid_.find(kernel.device_uuid());
  return found == by_uuid_.end() ? 0 : found->second;
}

bool ShareRoof(const DeviceSummary& a, const DeviceSummary& b) {
  return a.name() == b.name() &&
         Agree(a.peak_dram_bytes_per_second(), b.peak_dram_bytes_per_second()) && PeaksAgree(a, b);
}

bool AllShareRoof(const Summary& summary) {
  return std::all_of(summary.devices().begin(), summary.devices().end(),
                     [&](const auto& device) { return ShareRoof(summary.devices(0), device); });
}

std::vector<DevicesOfName> CountDevices(const Summary& summary) {
  std::vector<DevicesOfName> counts;
  for (const DeviceSummary& device : summary.devices()) {
    if (counts.empty() || counts.back().name != device.name()) counts.push_back({device.name(), 0});
    ++counts.back().count;
  }
  return counts;
}

}  // namespace utlz
