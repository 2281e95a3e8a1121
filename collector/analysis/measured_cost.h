// What tracing in windows cost a program, measured on its own work: the time that operations took
// inside windows, against the time that as many took in the gaps before and after. What slows
// windows down besides, such as sampling, is in it.
#ifndef UTLZ_COLLECTOR_ANALYSIS_MEASURED_COST_H_
#define UTLZ_COLLECTOR_ANALYSIS_MEASURED_COST_H_

#include <cstdint>
#include <optional>

#include "collector/run/run_state.h"
#include "collector/windows/window_times.h"

namespace utlz {

// Standard errors are from how windows differ; where these are few, so that 1.96 of them hold 95 %.
struct MeasuredCost {
  double share = 0;           // of the time that passed, windows and gaps
  double standard_error = 0;
  double window_ns = 0;     // of the windows that were compared
  double window_share = 0;  // of that time
  double window_standard_error = 0;
  uint32_t windows = 0;
};

// Nothing where there are too few windows with counted gaps on both sides. The first window, a
// program's start, has no gap before it and is left out.
std::optional<MeasuredCost> MeasureCost(const WindowTimes& windows);

// The costliest process's.
std::optional<MeasuredCost> MeasureCost(const RunState& state);

// Of the one process whose kernels ran on a device; nothing where there were several.
std::optional<MeasuredCost> MeasureCostOn(const RunState& state, uint32_t device);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_MEASURED_COST_H_
