// Calls of many steps, such as requests of generation: found by kernels that come back only once in
// many steps, always after the same number of operations or several times that. Operations between
// trace windows are known by CUPTI's numbers.
#ifndef UTLZ_COLLECTOR_STEPS_CALLS_H_
#define UTLZ_COLLECTOR_STEPS_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analysis/operation_axis.h"
#include "collector/steps/found_steps.h"

namespace utlz {

struct Calls {
  // A call that was traced from its beginning: the first and the last launch of the kernels that
  // only the beginning of a call has.
  struct Begin {
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
  };

  double operations = 0;  // in one
  double count = 0;       // in the run; 0 where the operations of all of it are not known
  std::vector<Begin> begins;
};

// Three beginnings that were traced show a period. Two do where all between them was traced and the
// rest of the run is a whole number of such calls. `step_launches`: of kernels, in one step.
std::optional<Calls> FindCalls(const FoundSteps& found, const OperationAxis& axis,
                               double step_launches);

// The first step of a call: in generation it reads the prompt.
struct Prefill {
  double time_ns = 0;  // mean
  size_t traced = 0;
};

// Of calls after the warm-up, as far as such steps were traced. `usual_ns`: of a step.
std::optional<Prefill> PrefillOf(const Calls& calls, const FoundSteps& found, size_t warmup,
                                 double usual_ns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_CALLS_H_
