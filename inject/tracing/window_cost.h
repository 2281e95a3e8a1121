// Whether tracing costs this program more than proto/tracing_cost.h says, whose figures are of one
// machine: compares the time that operations take in trace windows with the gaps before them.
// Agent's thread only.
#ifndef UTLZ_INJECT_TRACING_WINDOW_COST_H_
#define UTLZ_INJECT_TRACING_WINDOW_COST_H_

#include <cstdint>

#include "inject/record/operation_count.h"

namespace utlz::agent {

class WindowCost {
 public:
  void Opened(uint64_t now_ns);
  void Closed(uint64_t now_ns);
  // All records of the window that was closed last have been counted; `charged_ns` is what all
  // windows together cost by the figures.
  void Counted(const OperationCount& operations, uint64_t charged_ns);

  // What the figures are to be multiplied with: 1, unless windows have shown beyond doubt that it
  // is more.
  double Scale() const;

 private:
  static constexpr double kKept = 0.98;  // of what earlier windows showed, at each new one
  static constexpr double kLeastWindows = 12;
  static constexpr uint64_t kLeastGapOperations = 20;
  static constexpr double kStandardErrors = 2;
  static constexpr double kMostScale = 4;

  uint64_t opened_ns_ = 0;
  uint64_t closed_ns_ = 0;
  uint64_t gap_begin_ns_ = 0;  // 0: no window came before
  // Before the newest window.
  OperationCount operations_;
  bool has_records_ = false;  // the window before it
  uint64_t charged_ns_ = 0;
  // Sums over windows, the older the less.
  double windows_ = 0;
  double excess_sum_ns_ = 0;
  double excess_squares_ = 0;
  double charged_sum_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_WINDOW_COST_H_
