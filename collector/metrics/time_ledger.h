// What every GPU's time went to, added up so that it only grows. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_TIME_LEDGER_H_
#define UTLZ_COLLECTOR_METRICS_TIME_LEDGER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "collector/metrics/time_cause.h"
#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"

namespace utlz {

// Of one GPU, from its first activity on.
struct TimeSum {
  CauseTimes time_ns{};
  double busy_ns = 0;     // some kernel or copy ran
  double traced_ns = 0;   // all that is not kUntraced
  uint64_t known_ns = 0;  // up to when all is known; 0 before the first activity
  // Nothing has run for so long before `known_ns`. Not in the sums above: its cause shows once
  // something runs again.
  double open_idle_ns = 0;
};

class TimeLedger {
 public:
  // After `work` was updated: kernels' time is divided as theirs was since the last call.
  void Update(const RunState& state, const WorkLedger& work);

  // As DeviceTable.
  const std::vector<TimeSum>& devices() const { return sums_; }

 private:
  struct Counted {
    std::array<double, kTimeCategories> category_ns{};
    CauseTimes kernel_causes_ns{};  // of DeviceWork
    CauseTimes shares{};            // of kernels' time, the last that was known
  };

  void UpdateShares(const CauseTimes& causes_ns, Counted* counted);

  std::vector<TimeSum> sums_;
  std::vector<Counted> counted_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_TIME_LEDGER_H_
