// Periods above and below the step: calls of many steps, such as requests of generation, and
// repetitions within a step, such as the layers of a network.
//
// A call is found by kernels that come back only once in many steps, always after the same number
// of operations or several times that; operations between trace windows are known by CUPTI's
// numbers. A repetition is the longest sequence of launches that comes again and again within a
// step and makes up most of it.
#ifndef UTLZ_COLLECTOR_STEPS_STEP_LEVELS_H_
#define UTLZ_COLLECTOR_STEPS_STEP_LEVELS_H_

#include "collector/steps/found_steps.h"
#include "proto/summary.pb.h"

namespace utlz {

// Fills StepsSummary.levels and level; the step's own times must be filled before, and are copied
// again by CopyStepTimes once they are final.
void SummarizeLevels(const RunState& state, const FoundSteps& found, size_t warmup,
                     StepsSummary* summary);
void CopyStepTimes(StepsSummary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_STEP_LEVELS_H_
