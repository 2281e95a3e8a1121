// Finds the steps that utlz traced in part only. Agents trace everything in the first seconds of a
// run, and then in windows. A window that is shorter than a step records no step whole. The report
// counts what windows recorded of such steps, so that it does not speak of the first seconds alone.
#ifndef UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_
#define UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_

#include <cstdint>
#include <vector>

#include "collector/analysis/operation_axis.h"
#include "collector/steps/step.h"

namespace utlz {

// A stretch of consecutive steps. Trace windows recorded parts of them, and none as a whole.
struct PartlyTraced {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  StretchContent content;   // what the GPU did while it was traced
  double traced_steps = 0;  // operations that were traced ÷ those of a step
  double steps = 0;         // all operations of the stretch ÷ those of a step
  double TracedNs() const { return content.KernelNs() + content.CopyNs() + content.IdleNs(); }
};

// The steps of a device, or of a process on it, that were traced whole.
struct WholeSteps {
  const ActivityTotals& ledger;
  const OperationAxis& axis;
  double operations;               // in one step
  const std::vector<Step>& steps;  // in order
};

// Finds the stretches after the first whole step. `cut`: the steps that were not traced whole, in
// order. A stretch begins with a step, ends with a step, and has no whole step in it.
//
// Two kinds of stretches are not returned. Windows recorded less than two steps' worth of
// operations in the first kind. In the second kind they recorded many operations and saw few steps
// begin: the program does something else there, such as an evaluation.
std::vector<PartlyTraced> FindPartlyTraced(const WholeSteps& whole, const std::vector<Step>& cut);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_PARTLY_TRACED_H_
