// Both sides of a comparison with what a test of their numbers needs.
#ifndef UTLZ_TOOLS_COMPARE_COMPARE_INPUT_H_
#define UTLZ_TOOLS_COMPARE_COMPARE_INPUT_H_

#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/diff_options.h"
#include "tools/compare/estimate.h"
#include "tools/compare/run_quantities.h"

namespace utlz {

struct CompareInput {
  const std::vector<Summary>& before;
  const std::vector<Summary>& after;
  std::vector<PerWhat> units_before;  // one a run
  std::vector<PerWhat> units_after;
  double whole_ns;  // a step, or the run
  const DiffOptions& options;

  TestOptions Test(double family_size, double least_effect) const {
    return {family_size, least_effect, &options};
  }
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_COMPARE_INPUT_H_
