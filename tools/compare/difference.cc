#include "tools/compare/difference.h"

#include <algorithm>

namespace utlz {

bool Change::IsReal() const {
  return verdict != Verdict::kUnknown && verdict != Verdict::kNoDifference;
}

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
      return entry.change.IsReal();
    } else {
      return entry.time_ns.IsReal();
    }
  };
  return std::any_of(quantities.begin(), quantities.end(), real) ||
         std::any_of(slices.begin(), slices.end(), real) ||
         std::any_of(kernels.begin(), kernels.end(), real);
}

const QuantityChange* Difference::FindQuantity(std::string_view name) const {
  for (const QuantityChange& quantity : quantities) {
    if (quantity.name == name && quantity.change.before && quantity.change.after) return &quantity;
  }
  return nullptr;
}

}  // namespace utlz
