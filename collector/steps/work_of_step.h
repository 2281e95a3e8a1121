// What was said of the work of a step, for the steps that were found: `--steps` may count calls of
// which each is many of these.
#ifndef UTLZ_COLLECTOR_STEPS_WORK_OF_STEP_H_
#define UTLZ_COLLECTOR_STEPS_WORK_OF_STEP_H_

#include <optional>

#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {

// The level that came about as often as --steps says, the steps themselves before others; nothing
// where there is none, or nothing was said.
const StepLevel* ExpectedLevel(const StepsSummary& steps);

// FLOPs, tokens and items of one step that was found. Nothing where --steps counts what is no level
// here: of what they are is not known then.
std::optional<WorkloadSpec> WorkOfStep(const WorkloadSpec& work, const StepsSummary& steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_WORK_OF_STEP_H_
