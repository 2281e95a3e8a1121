#include "inject/tracing/window_cost.h"

#include <cmath>

namespace utlz::agent {

void WindowCost::Opened(uint64_t now_ns) {
  // One that was not closed, because another client came, is no end of a gap.
  gap_begin_ns_ = closed_ns_ > opened_ns_ ? closed_ns_ : 0;
  opened_ns_ = now_ns;
}

void WindowCost::Closed(uint64_t now_ns) { closed_ns_ = now_ns; }

void WindowCost::Counted(const OperationCount& operations, uint64_t charged_ns) {
  const uint64_t recorded = operations.recorded() - operations_.recorded();
  // What came late may have been taken for a part of the gap before.
  const bool less = operations.in_gaps() < operations_.in_gaps();
  const uint64_t in_gap = less ? 0 : operations.in_gaps() - operations_.in_gaps();
  const uint64_t window_charged_ns = charged_ns - charged_ns_;
  // Numbers are seen with records: after a window without any, those of two gaps come together.
  const bool one_gap = has_records_ && recorded != 0;
  has_records_ = recorded != 0;
  operations_ = operations;
  charged_ns_ = charged_ns;
  if (gap_begin_ns_ == 0 || closed_ns_ <= opened_ns_ || !one_gap) return;
  if (in_gap < kLeastGapOperations) return;
  const double untraced_ns =
      static_cast<double>(opened_ns_ - gap_begin_ns_) / static_cast<double>(in_gap);
  const double excess_ns =
      static_cast<double>(closed_ns_ - opened_ns_) - static_cast<double>(recorded) * untraced_ns;
  windows_ = windows_ * kKept + 1;
  excess_sum_ns_ = excess_sum_ns_ * kKept + excess_ns;
  excess_squares_ = excess_squares_ * kKept + excess_ns * excess_ns;
  charged_sum_ns_ = charged_sum_ns_ * kKept + static_cast<double>(window_charged_ns);
}

double WindowCost::Scale() const {
  if (windows_ < kLeastWindows || charged_sum_ns_ <= 0) return 1;
  const double variance = excess_squares_ - excess_sum_ns_ * excess_sum_ns_ / windows_;
  const double error_ns = variance > 0 ? std::sqrt(variance) : 0;  // of the sum
  const double scale = (excess_sum_ns_ - kStandardErrors * error_ns) / charged_sum_ns_;
  return scale < 1 ? 1 : scale > kMostScale ? kMostScale : scale;
}

}  // namespace utlz::agent
