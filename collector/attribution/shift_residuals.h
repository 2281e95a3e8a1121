// What fits leave unexplained where samples are taken to lie so much later than the launches.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_RESIDUALS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_RESIDUALS_H_

#include <cstddef>
#include <vector>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/recording.h"
#include "collector/attribution/shift_groups.h"

namespace utlz::attribution {

// Samples [first, end) and the launches near them.
Recording CutSamples(const Recording& recording, size_t first, size_t end);

// The first `most` samples that have a launch near them, and those launches. The others say nothing
// about a shift, and where a program works now and then they are most of its samples.
Recording CutNearLaunches(const Recording& recording, size_t most);

// Of one recording, as shares of the counters' squares, summed over a group's counters.
struct ShiftResiduals {
  std::vector<std::vector<double>> whole;               // by group, shift
  std::vector<std::vector<std::vector<double>>> parts;  // by part, group, shift

  // Those of other shifts, of the same recording, groups and parts.
  void Append(const ShiftResiduals& others);
};

// Of fits with one constant rate for each variant, and a constant background; of the whole and of
// `parts` pieces with the same number of samples each.
ShiftResiduals ConstantRateResiduals(const Recording& recording, size_t variants,
                                     const std::vector<ShiftGroup>& groups,
                                     const std::vector<double>& shifts_ns, size_t parts);

// Of a fit with rates that vary over each launch's life as `plan` has it; by shift.
std::vector<double> ProfileResiduals(const Recording& recording, const ColumnPlan& plan,
                                     const ShiftGroup& group, const std::vector<double>& shifts_ns);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_RESIDUALS_H_
