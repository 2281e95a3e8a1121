// What kernels lose, each kernel's loss counted once: by the family that its name shows, by its
// roofs and its grid.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_KERNEL_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_KERNEL_FACTS_H_

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

KernelFacts GatherKernels(const RunState& state, const Analysis& analysis, const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_KERNEL_FACTS_H_
