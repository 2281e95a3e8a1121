#include "collector/attribution/variant_table.h"

namespace utlz::attribution {

VariantTable::VariantTable(size_t max_variants) : max_variants_(max_variants) {
  variants_.push_back({kOtherVariants, IntervalKind::kKernel});
}

uint32_t VariantTable::IndexOf(uint64_t variant, IntervalKind kind) {
  if (variant == kOtherVariants) return kOtherVariantsIndex;
  auto& indices = indices_[static_cast<size_t>(kind)];
  if (const auto known = indices.find(variant); known != indices.end()) return known->second;
  if (variants_.size() > max_variants_) return kOtherVariantsIndex;
  const auto index = static_cast<uint32_t>(variants_.size());
  variants_.push_back({variant, kind});
  indices.emplace(variant, index);
  return index;
}

}  // namespace utlz::attribution
