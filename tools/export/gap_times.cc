#include "tools/export/gap_times.h"

#include <cstdint>

#include "collector/analysis/steady_part.h"
#include "collector/gpu_uuid.h"
#include "collector/steps/step_summary.h"

namespace utlz {

GapTimes GapTimesOf(const RunState& state) {
  Summary summary;
  const SteadyPart steady = FindSteadyPart(state, SummarizeSteps(state, &summary));
  GapTimes times;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    if (device.used) times.emplace(FormatGpuUuid(device.uuid), steady.Of(device, i).gap_time);
  }
  return times;
}

}  // namespace utlz
