#include "collector/kernel_names/framework.h"

#include <algorithm>
#include <array>

namespace utlz {
namespace {

constexpr std::array kPyTorchParts = std::to_array<std::string_view>(
    {"2at6native", "at::native", "triton_poi_fused", "triton_per_fused", "triton_red_fused"});
constexpr std::array kXlaParts =
    std::to_array<std::string_view>({"15stream_executor3gpu", "stream_executor::gpu"});
// "loop_add_fusion_18", "gemm_fusion_dot_7"
constexpr std::array kXlaBeginnings = std::to_array<std::string_view>(
    {"loop_", "input_", "gemm_fusion", "wrapped_", "fusion_", "triton_softmax"});

template <typename List, typename Test>
bool Any(const List& list, Test test) {
  return std::any_of(list.begin(), list.end(), test);
}

}  // namespace

Framework FrameworkOf(std::string_view mangled_name) {
  const auto holds = [mangled_name](std::string_view part) {
    return mangled_name.find(part) != std::string_view::npos;
  };
  if (Any(kPyTorchParts, holds)) return Framework::kPyTorch;
  if (Any(kXlaParts, holds)) return Framework::kJax;
  const bool fused = holds("fusion") || mangled_name.starts_with("wrapped_");
  const auto begins = [mangled_name](std::string_view part) {
    return mangled_name.starts_with(part);
  };
  return fused && Any(kXlaBeginnings, begins) ? Framework::kJax : Framework::kUnknown;
}

}  // namespace utlz
