#include "tools/compare/difference.h"

#include <algorithm>

namespace utlz {
namespace {

bool IsReal(const Change& change) {
  return change.verdict != Verdict::kUnknown && change.verdict != Verdict::kNoDifference;
}

}  // namespace

std::optional<double> Change::Delta() const {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

std::optional<double> Change::RelativeDelta() const {
  const std::optional<double> delta = Delta();
  if (!delta || *before == 0) return std::nullopt;
  return *delta / *before;
}

bool Difference::HasDifference() const {
  const auto real = [](const auto& entry) {
    if constexpr (requires { entry.change; }) {
      return IsReal(entry.change);
    } else {
      return IsReal(entry.time_ns);
    }
  };
  return std::any_of(quantities.begin(), quantities.end(), real) ||
         std::any_of(slices.begin(), slices.end(), real) ||
         std::any_of(kernels.begin(), kernels.end(), real);
}

}  // namespace utlz
