// Steps that utlz itself held up: a step that is slow because nothing ran, while the sampler set
// the GPU's counters or had another metric set in than the usual one. It is utlz's doing and not
// the program's, unless the program's steps are slow like that at other times too.
#ifndef UTLZ_COLLECTOR_SUMMARY_HOLD_UPS_H_
#define UTLZ_COLLECTOR_SUMMARY_HOLD_UPS_H_

#include <cstddef>
#include <vector>

#include "collector/analysis/steady_part.h"
#include "collector/summary/found_steps.h"

namespace utlz {

// Says so in the steps (Step.stall_ns and held_up_by), and where in them it was.
std::vector<HoldUp> FindHoldUps(size_t warmup, FoundSteps* found);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_HOLD_UPS_H_
