// Finds steps that utlz itself delayed: a slow step in which nothing ran while the sampler set the
// GPU's counters, or while it sampled another metric set than the usual one. If the program's steps
// are as slow at other times too, the delay is taken to be the program's own.
#ifndef UTLZ_COLLECTOR_STEPS_HOLD_UPS_H_
#define UTLZ_COLLECTOR_STEPS_HOLD_UPS_H_

#include <cstddef>
#include <vector>

#include "collector/analysis/steady_part.h"
#include "collector/steps/found_steps.h"

namespace utlz {

// Sets Step.stall_ns and held_up_by. Returns where in the steps it was.
std::vector<HoldUp> FindHoldUps(size_t warmup, FoundSteps* found);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_HOLD_UPS_H_
