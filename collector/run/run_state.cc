#include "collector/run/run_state.h"

#include <algorithm>

namespace utlz {

uint64_t RunState::NewestNs() const {
  if (run_end.has_value() && run_end->time_ns() != 0) return run_end->time_ns();
  const uint64_t start_ns = run_start.has_value() ? run_start->time_ns() : 0;
  return std::max<uint64_t>(start_ns, processes.newest_ns());
}

std::optional<uint32_t> RunState::DeviceOf(const ProcessState& process, uint32_t context) {
  const auto ordinal = process.ordinal_by_context.find(context);
  if (ordinal != process.ordinal_by_context.end()) {
    const auto device = process.device_by_ordinal.find(ordinal->second);
    if (device != process.device_by_ordinal.end()) return device->second;
  }
  if (process.device_by_ordinal.size() == 1) return process.device_by_ordinal.begin()->second;
  return devices.Find({});
}

RunReach RunState::ReachOf(const ProcessState& process) const {
  return {.start_ns = run_start.has_value() ? run_start->time_ns() : 0,
          .newest_ns = process.newest_ns};
}

}  // namespace utlz
