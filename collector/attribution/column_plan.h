// Which columns of the linear system a launch belongs to.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_PLAN_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/attribution/profile_shape.h"
#include "collector/attribution/recording.h"

namespace utlz::attribution {

// The launches of one variant in one cluster of durations.
struct WorkColumn {
  uint32_t variant = 0;
  uint32_t part = 0;
  uint32_t parts = 1;
  int64_t min_duration_ns = 0;
  int64_t max_duration_ns = 0;
  ProfileShape shape;
  uint32_t first_coefficient = 0;
};

// Chosen from a first recording: variants that take most time get the finest shapes. Variants that
// come later get coarse ones while there is room; the rest shares kOtherColumn.
class ColumnPlan {
 public:
  static constexpr uint32_t kOtherColumn = 0;
  static constexpr uint32_t kIdleCoefficient = 0;

  ColumnPlan(const Recording& recording, size_t variants, size_t max_coefficients);

  // The column of a launch; makes one for a variant not seen before.
  uint32_t ColumnOf(const Launch& launch);

  const std::vector<WorkColumn>& columns() const { return columns_; }
  size_t coefficients() const { return coefficients_; }
  size_t max_coefficients() const { return max_coefficients_; }

 private:
  struct VariantColumns {
    std::vector<int64_t> separators;
    std::vector<uint32_t> columns;  // one more than separators, or none: not planned
  };

  uint32_t AddColumn(WorkColumn column);

  size_t max_coefficients_;
  size_t coefficients_ = 1;
  std::vector<WorkColumn> columns_;
  std::vector<VariantColumns> variants_;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_PLAN_H_
