// Numbers variants densely, up to a bound.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_VARIANT_TABLE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_VARIANT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collector/attribution/solution.h"

namespace utlz::attribution {

class VariantTable {
 public:
  // Stands for all variants beyond the bound.
  static constexpr uint32_t kOtherVariantsIndex = 0;

  explicit VariantTable(size_t max_variants);

  uint32_t IndexOf(uint64_t variant, IntervalKind kind);

  size_t size() const { return variants_.size(); }
  uint64_t variant(uint32_t index) const { return variants_[index].variant; }
  IntervalKind kind(uint32_t index) const { return variants_[index].kind; }

 private:
  struct Variant {
    uint64_t variant;
    IntervalKind kind;
  };

  size_t max_variants_;
  std::vector<Variant> variants_;
  // One table for each kind, so that a copy's number may equal a kernel's.
  std::unordered_map<uint64_t, uint32_t> indices_[3];
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_VARIANT_TABLE_H_
