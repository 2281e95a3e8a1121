#include "collector/analysis/unrecorded_work.h"

#include <algorithm>

#include "collector/gpu_uuid.h"

namespace utlz {
namespace {

// Less may lie beside its kernels because the clocks of records and samples differ by microseconds.
constexpr double kFewestSampledNs = 10e6;

bool OthersMayHaveWorked(const DeviceState& device, const Summary& summary) {
  const std::string uuid = FormatGpuUuid(device.uuid);
  for (const DeviceSummary& one : summary.devices()) {
    if (one.uuid() == uuid) return one.other_processes() > 0 || one.mps();
  }
  return true;
}

}  // namespace

std::optional<double> UnrecordedWorkShare(const Attribution& attribution) {
  const auto& active = attribution.totals[METRIC_SM_CYCLES_ACTIVE];
  if (!active.has_value() || attribution.sampled_ns[METRIC_SM_CYCLES_ACTIVE] < kFewestSampledNs) {
    return std::nullopt;
  }
  const double left_out = attribution.left_out_active_cycles;
  const double outside = active->idle + active->unattributed + left_out;
  const double all = active->counted + left_out;
  if (all <= 0) return std::nullopt;
  return std::clamp(outside / all, 0.0, 1.0);
}

std::optional<double> MuchUnrecordedWork(const RunState& state, const Analysis& analysis,
                                         const Summary& summary) {
  std::optional<double> most;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used || OthersMayHaveWorked(state.devices[i], summary)) continue;
    const auto share = UnrecordedWorkShare(analysis.devices[i].attribution);
    if (share.value_or(0) >= std::max(kMuchUnrecorded, most.value_or(0))) most = share;
  }
  return most;
}

}  // namespace utlz
