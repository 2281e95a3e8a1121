// Computes a Difference. Pure, thread-safe; memory and time grow with the number of kernels.
#ifndef UTLZ_TOOLS_COMPARE_DIFF_H_
#define UTLZ_TOOLS_COMPARE_DIFF_H_

#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/diff_options.h"
#include "tools/compare/difference.h"

namespace utlz {

Difference Diff(const Summary& before, const Summary& after, const DiffOptions& options = {});

// Several runs on a side. Where both have the same number, they are taken as pairs in the order
// given, which cancels drift of a machine between pairs.
Difference DiffRuns(const std::vector<Summary>& before, const std::vector<Summary>& after,
                    const DiffOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_DIFF_H_
