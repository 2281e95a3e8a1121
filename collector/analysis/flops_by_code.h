// FLOPs outside the tensor cores, by a kernel's code and the instructions that were counted.
#ifndef UTLZ_COLLECTOR_ANALYSIS_FLOPS_BY_CODE_H_
#define UTLZ_COLLECTOR_ANALYSIS_FLOPS_BY_CODE_H_

#include <optional>

#include "collector/counters/kernel_part.h"
#include "collector/kernel_code/flop_bounds.h"
#include "collector/run/process_table.h"

namespace utlz {

// Of one launch of a kernel's part; absent where code and counts leave them open.
std::optional<FlopBounds> FlopsByCode(const KernelCode& code, const VariantShape& shape,
                                      const KernelPart& part);

// Of an analysis: what bounds may cost it, by the size of the code. A profile may come from
// anywhere.
class CodeAllowance {
 public:
  // False where the code is too much for what is left.
  bool Take(const KernelCode& code);

 private:
  // A kernel of PyTorch takes 10⁶, the largest code 10¹⁰ or about ten seconds.
  double left_ = 4e10;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_FLOPS_BY_CODE_H_
