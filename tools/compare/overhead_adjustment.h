// What tracing itself adds to a program's time is left out of a summary where it was measured
// (collector/analysis/traced_slowdown.h) and is still in it where it was not. Two runs of the same
// program then differ by as much, so both sides are put on one basis before they are compared.
// Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_OVERHEAD_ADJUSTMENT_H_
#define UTLZ_TOOLS_COMPARE_OVERHEAD_ADJUSTMENT_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

// One standard error of a run's time by tracing, as a share of it: of what was taken out, by how
// well it was measured; of what is still in it, by how much it differs from run to run.
double TracingError(const Summary& run);

// The summary with what was taken out put back, as far as comparisons read it.
Summary AsTraced(const Summary& run);

struct ComparedRuns {
  std::vector<Summary> before;
  std::vector<Summary> after;
  std::vector<std::string> caveats;
};

// As they are where all runs leave out what tracing added, or none does; else all as traced, which
// a caveat says. Another says so where much of the times compared is tracing's.
ComparedRuns AdjustForOverhead(const std::vector<Summary>& before,
                               const std::vector<Summary>& after);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_OVERHEAD_ADJUSTMENT_H_
