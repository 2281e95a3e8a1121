// The order of a report's kernels.
#ifndef UTLZ_TOOLS_REPORT_KERNEL_ORDER_H_
#define UTLZ_TOOLS_REPORT_KERNEL_ORDER_H_

#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

enum class KernelOrder { kSavings, kTime, kFlops, kBytes, kLaunches };

// As in "estimated savings first".
const char* NameOf(KernelOrder order);
// The most first; those with as much, by time.
std::vector<const KernelSummary*> SortedKernels(const Summary& summary, KernelOrder order);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_KERNEL_ORDER_H_
