// The power that a device drew while steps ran.
#ifndef UTLZ_COLLECTOR_ANALYSIS_POWER_IN_STEPS_H_
#define UTLZ_COLLECTOR_ANALYSIS_POWER_IN_STEPS_H_

#include <optional>

#include "collector/analysis/steady_part.h"

namespace utlz {

// Watts. Pauses are left out, as they are of a step's time. Nothing where the driver did not tell.
std::optional<double> PowerInSteps(const DeviceState& device, const StepsSpan& steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_POWER_IN_STEPS_H_
