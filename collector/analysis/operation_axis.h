// How many operations (kernels, copies, sets, launches of graphs) a device began between two
// moments, traced or not. Those in trace windows are counted, and those between windows are known
// by CUPTI's numbers (docs/decisions/0016-gaps-are-counted-by-numbers.md). Steps that were not
// traced are counted so.
//
// A process that uses several devices is taken to have divided its untraced operations among them
// as it did the traced ones. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ANALYSIS_OPERATION_AXIS_H_
#define UTLZ_COLLECTOR_ANALYSIS_OPERATION_AXIS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/run/run_state.h"
#include "collector/windows/window_gaps.h"

namespace utlz {

class OperationAxis {
 public:
  OperationAxis(const RunState& state, uint32_t device);
  // Of one process's operations there; `ledger` has those that were traced.
  OperationAxis(const RunState& state, uint32_t device, uint32_t source,
                const ActivityTotals& ledger);

  // Nothing where an untraced part of that time has an unknown number of operations.
  std::optional<double> Between(uint64_t start_ns, uint64_t end_ns) const;
  // When the last process that uses the device ended, or the newest time known.
  uint64_t end_ns() const { return end_ns_; }

 private:
  // Sums over one process's gaps up to a moment; between two points both grow evenly.
  struct Sums {
    double operations = 0;
    double unknown_ns = 0;  // of gaps whose operations are not known
  };
  struct Point {
    uint64_t time_ns;
    Sums sums;
  };
  using Gaps = std::vector<Point>;

  void AddGapsOf(const ProcessState& process, uint64_t newest_ns);
  double ShareOf(const ProcessState& process, const std::vector<WindowGaps::Span>& spans) const;
  static Gaps GapsOf(const std::vector<WindowGaps::Span>& spans, double share);
  static Sums Until(const Gaps& gaps, uint64_t time_ns);

  const ActivityTotals* ledger_;
  std::vector<Gaps> gaps_;  // of each process
  uint64_t end_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_OPERATION_AXIS_H_
