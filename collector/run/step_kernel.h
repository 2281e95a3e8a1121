// The kernels that mark the steps because somebody named them, where launches alone do not show
// steps. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_STEP_KERNEL_H_
#define UTLZ_COLLECTOR_RUN_STEP_KERNEL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collector/run/kernel_table.h"

namespace utlz {

class StepKernel {
 public:
  // A part of the function's readable name; empty: no kernel marks steps.
  explicit StepKernel(std::string name) : name_(std::move(name)) {}

  // Whether launches of this kernel begin steps. A name is read once.
  bool Marks(uint32_t kernel, const KernelTable& kernels);

 private:
  enum class Answer : uint8_t { kUnread, kNo, kYes };

  std::string name_;
  std::vector<Answer> answers_;  // by kernel
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_STEP_KERNEL_H_
