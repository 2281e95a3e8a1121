// What processes did on their GPUs in the last seconds, from totals that only grow. Bounded: beyond
// kMostProcesses nothing is known. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_PROCESS_HISTORY_H_
#define UTLZ_COLLECTOR_METRICS_PROCESS_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"

namespace utlz {

class ProcessHistory {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;
  static constexpr size_t kMostProcesses = 128;

  // `work` is up to date. Processes that have ended are forgotten.
  void Update(const RunState& run_state, const WorkLedger& work);

  // FLOPs of the last seconds as a share of the peak of the GPUs that the process works on, 0…1.
  // Nothing while most of its kernels are not counted.
  std::optional<double> Hfu(uint32_t source) const;

 private:
  // Totals of one process at one moment.
  struct Point {
    uint64_t time_ns = 0;   // of the run
    uint64_t known_ns = 0;  // up to which its kernels are known
    double devices = 0;
    ComputeWork work = {};
  };

  static Point PointOf(const RunState& run_state, const ProcessState& process,
                       const std::map<uint32_t, ComputeWork>& work);

  std::map<uint32_t, std::deque<Point>> points_;  // by source; at least one older than kLengthNs
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_PROCESS_HISTORY_H_
