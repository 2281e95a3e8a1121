// What processes and their agents say of themselves, added up so that it only grows. Bounded:
// beyond kMostProcesses they are one. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_PROCESS_LEDGER_H_
#define UTLZ_COLLECTOR_METRICS_PROCESS_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "collector/metrics/growing_count.h"
#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"

namespace utlz {

enum class ProcessCount : uint8_t {
  kOperations,
  kAgentCostNs,
  kLaunchesDropped,
  kLaunchesUntimed,
  kRecordsLost,
};
inline constexpr size_t kProcessCounts = 5;

class ProcessLedger {
 public:
  static constexpr size_t kMostProcesses = 128;

  void Update(const RunState& state);

  // By source, WorkLedger::kOthers for all that have no entry of their own.
  const std::map<uint32_t, std::array<double, kProcessCounts>>& sums() const { return sums_; }

 private:
  using Counts = std::array<GrowingCount, kProcessCounts>;

  void Forget(uint32_t source);

  std::map<uint32_t, Counts> counts_;
  std::map<uint32_t, std::array<double, kProcessCounts>> sums_;
  std::set<uint32_t> forgotten_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_PROCESS_LEDGER_H_
