// When kernels came back after many launches of others: what a program does once in many steps,
// such as the prefill of each request, marks a period that is longer than a step.
//
// Absence is counted in launches that were traced. Which absences are long shows only when the
// steps are known, so that the shortest ones are given up only where a kernel has too many.
// Bounded: kMaxKernels with kMostReturns each; kernels with higher numbers are left out. Thread
// safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_KERNEL_RETURNS_H_
#define UTLZ_COLLECTOR_TIMELINE_KERNEL_RETURNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

class KernelReturns {
 public:
  static constexpr size_t kMaxKernels = 4096;
  static constexpr size_t kMostReturns = 256;

  // Activities in order of start.
  void Add(const Activity& activity);

  // For each kernel, in order, when it was first launched and when it came back after at least
  // `launches` others; kernels of which shorter absences than that were given up are left out.
  std::vector<std::vector<uint64_t>> After(uint64_t launches) const;

 private:
  struct Return {
    uint64_t start_ns;
    uint64_t absent;  // launches of others since the last one
  };
  struct Kernel {
    uint64_t last = 0;           // launch, counted from one
    uint64_t shortest_kept = 8;  // shorter absences are no returns
    std::vector<Return> returns;
  };

  static void GiveUpTheShort(Kernel* kernel);

  uint64_t launches_ = 0;
  std::vector<Kernel> kernels_;  // by number
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_KERNEL_RETURNS_H_
