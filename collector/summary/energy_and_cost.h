// Joules and money: of a step, of a token, and of what was lost.
#ifndef UTLZ_COLLECTOR_SUMMARY_ENERGY_AND_COST_H_
#define UTLZ_COLLECTOR_SUMMARY_ENERGY_AND_COST_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Adds to Summary.efficiency; devices, steps, the waterfall and HFU must be filled already.
void SummarizeEnergyAndCost(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_ENERGY_AND_COST_H_
