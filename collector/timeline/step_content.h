// What the steps of a loop launch, as far as they were recorded whole.
#ifndef UTLZ_COLLECTOR_TIMELINE_STEP_CONTENT_H_
#define UTLZ_COLLECTOR_TIMELINE_STEP_CONTENT_H_

#include <cstdint>
#include <vector>

namespace utlz {

struct StepContent {
  struct Launch {
    uint32_t kernel = 0;  // index into KernelTable
    uint32_t stack = 0;   // of StackTable; 0: not known
    uint64_t duration_ns = 0;
  };
  std::vector<Launch> before_steps;        // everything recorded before the first step
  std::vector<std::vector<Launch>> steps;  // recorded whole, in order
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_STEP_CONTENT_H_
