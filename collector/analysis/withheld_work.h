// What was attributed to a kernel and is not shown: bytes that are mostly error, and rates that the
// hardware cannot reach.
#ifndef UTLZ_COLLECTOR_ANALYSIS_WITHHELD_WORK_H_
#define UTLZ_COLLECTOR_ANALYSIS_WITHHELD_WORK_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Sets row->flops_uncertain where the interval of its tensor FLOPs holds none as well as more than
// the GPU can do. Sets row->withheld and makes its rooflines unknown where its work cannot be
// accepted. Times at a roof that exceed the kernel's own by no more than their error are cut to it.
// The rooflines must be filled already.
void WithholdUncertain(const Ceilings& ceilings, KernelRow* row);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_WITHHELD_WORK_H_
