// Kernels as tables show them: where the report is of steps, what each did in these, and no kernel
// that ran before or after them alone.
#ifndef UTLZ_TOOLS_REPORT_KERNELS_OF_STEPS_H_
#define UTLZ_TOOLS_REPORT_KERNELS_OF_STEPS_H_

#include "proto/summary.pb.h"

namespace utlz {

// A copy whose kernels' launches, times, FLOPs and bytes are those in Summary.steady_state; the
// summary as it is where that is the whole run, or an older release did not say what lies in it.
Summary WithKernelsOfSteps(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_KERNELS_OF_STEPS_H_
