// Numbers with their errors, and the test of two sets of them. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_ESTIMATE_H_
#define UTLZ_TOOLS_COMPARE_ESTIMATE_H_

#include <optional>
#include <vector>

#include "tools/compare/diff_options.h"
#include "tools/compare/difference.h"

namespace utlz {

struct Estimate {
  double value = 0;
  double error = 0;  // one standard error inside the run
};
// One a run; absent where that run does not know the number.
using Estimates = std::vector<std::optional<Estimate>>;

struct TestOptions {
  double family_size = 1;   // numbers tested together
  double least_effect = 0;  // smaller differences are none, in the number's unit
  const DiffOptions* options;
};

// A number that some run of a side does not know is unknown on that side.
Change CompareEstimates(const Estimates& before, const Estimates& after, const TestOptions& test);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_ESTIMATE_H_
