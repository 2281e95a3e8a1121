// Steps that were traced in part only. Where trace windows are shorter than a step, no step is
// traced whole once tracing is sparse. What windows show of such steps stands for them all the
// same: otherwise the first seconds of a run, traced densely, would speak for all of it.
#ifndef UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_
#define UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_

#include <cstdint>
#include <vector>

#include "collector/analysis/operation_axis.h"
#include "collector/steps/step.h"

namespace utlz {

// Steps in a row none of which was traced whole, in windows shorter than a step.
struct PartlyTraced {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  StretchContent content;   // of what was traced
  double traced_steps = 0;  // so many steps' operations were traced
  double steps = 0;         // by all operations
  double TracedNs() const { return content.KernelNs() + content.CopyNs() + content.IdleNs(); }
};

// Of one device, or of a process on it.
struct WholeSteps {
  const ActivityTotals& ledger;
  const OperationAxis& axis;
  double operations;               // in one step
  const std::vector<Step>& steps;  // in order
};

// Stretches of such steps after the first whole one. `cut`: the steps that were not traced whole,
// in order. A stretch begins and ends where a step does, and holds no whole one. Left out are those
// of which too little was traced, and those in which steps begin too seldom for what was traced: a
// program does something else there.
std::vector<PartlyTraced> FindPartlyTraced(const WholeSteps& whole, const std::vector<Step>& cut);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_
