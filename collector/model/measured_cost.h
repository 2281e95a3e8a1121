// What tracing in windows cost a program, measured on its own work: the time that operations took
// inside windows, against the time that as many took in the gaps before and after. What slows
// windows down besides, such as sampling, is in it.
#ifndef UTLZ_COLLECTOR_MODEL_MEASURED_COST_H_
#define UTLZ_COLLECTOR_MODEL_MEASURED_COST_H_

#include <cstdint>
#include <optional>

#include "collector/model/model_state.h"
#include "collector/model/window_times.h"

namespace utlz {

struct MeasuredCost {
  double share = 0;           // of the time that passed, windows and gaps
  double standard_error = 0;  // of the share, from how windows differ
  uint32_t windows = 0;
};

// Nothing where there are too few windows with counted gaps on both sides. The first window, a
// program's start, has no gap before it and is left out.
std::optional<MeasuredCost> MeasureCost(const WindowTimes& windows);

// The costliest process's.
std::optional<MeasuredCost> MeasureCost(const ModelState& model);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_MEASURED_COST_H_
