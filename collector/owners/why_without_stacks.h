// Why launches of a run have no stack or no owner, as a sentence for people.
#ifndef UTLZ_COLLECTOR_OWNERS_WHY_WITHOUT_STACKS_H_
#define UTLZ_COLLECTOR_OWNERS_WHY_WITHOUT_STACKS_H_

#include <string>

#include "collector/run/run_state.h"

namespace utlz {

// Of the first process whose stacks could not be read: it stands for the others. Else of the first
// of whose graphs a kernel ran without the stack of its capture, then of the first whose backward
// launches have no owner. Else of JAX, where XLA's names of instructions were not seen. Empty where
// none is so.
std::string WhyWithoutStacks(const RunState& state);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_WHY_WITHOUT_STACKS_H_
