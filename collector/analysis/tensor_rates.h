// What a cycle of the tensor pipe does, as a share of what it does at the peak of the data type: it
// differs between the instructions that feed the pipe. GH100's shares are measured
// (bench/gpu/mma_rates.py, docs/measurements/sampling.md); other chips are taken to have none.
#ifndef UTLZ_COLLECTOR_ANALYSIS_TENSOR_RATES_H_
#define UTLZ_COLLECTOR_ANALYSIS_TENSOR_RATES_H_

#include <string_view>

#include "collector/kernel_names/kernel_class.h"

namespace utlz {

struct TensorRate {
  double share = 1;
  double half_width = 0;  // 95 %: which instructions it is may not be known
};

TensorRate TensorRateOf(std::string_view chip, TensorInstructions instructions,
                        std::string_view data_type);

// Of a kernel that counts of ranges show to use mma.sync, of whatever depth.
TensorRate TensorRateOfSomeWarps(std::string_view chip, std::string_view data_type);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_TENSOR_RATES_H_
