#include "collector/analysis/tensor_rates.h"

#include <cmath>

namespace utlz {
namespace {

constexpr std::string_view kMeasured = "GH100";

// mma.sync of full depth. Of fp8 it is made of instructions for fp16; doubles have no others.
double ShareOfWarps(std::string_view data_type) {
  if (data_type == "fp64_tensor") return 1;
  return data_type == "fp8" ? 1.0 / 3 : 2.0 / 3;
}

// Half the depth does half the peak.
constexpr double kShareOfNarrowWarps = 0.5;
constexpr double kShareOfSmallWarps = 0.25;

}  // namespace

TensorRate TensorRateOf(std::string_view chip, TensorInstructions instructions,
                        std::string_view data_type) {
  if (chip != kMeasured) return {};
  switch (instructions) {
    case TensorInstructions::kWarpGroups:
      return {};
    case TensorInstructions::kWarps:
      return {.share = ShareOfWarps(data_type), .half_width = 0};
    case TensorInstructions::kNarrowWarps:
      return {.share = kShareOfNarrowWarps, .half_width = 0};
    case TensorInstructions::kSmallWarps:
      return {.share = kShareOfSmallWarps, .half_width = 0};
    case TensorInstructions::kUnknown:
      // What the GPU's own libraries use, with the others in the interval.
      return {.share = 1, .half_width = 1 - ShareOfWarps(data_type)};
  }
  return {};
}

TensorRate TensorRateOfSomeWarps(std::string_view chip, std::string_view data_type) {
  if (chip != kMeasured) return {};
  const double share = ShareOfWarps(data_type);
  return {.share = share, .half_width = std::abs(share - kShareOfNarrowWarps)};
}

}  // namespace utlz
