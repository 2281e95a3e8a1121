// The work of one GPU in a planned run, spread evenly over the time of each launch and copy: what
// counters would count there between two moments. Thread safety: none.
#ifndef UTLZ_BENCH_DIAGNOSIS_PLANNED_WORK_H_
#define UTLZ_BENCH_DIAGNOSIS_PLANNED_WORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/diagnosis/planned_run.h"
#include "bench/diagnosis/sampled_metrics.h"

namespace utlz {

class PlannedWork {
 public:
  // Of the rank's GPU; of all ranks where they share one.
  PlannedWork(const PlannedRun& run, const PlannedRank& rank);

  // `from`: the first work that may reach into the time; moves on with it.
  MetricValues Between(uint64_t start_ns, uint64_t end_ns, size_t* from) const;
  // For how long some work ran. `from` as Between() left it.
  double BusyNs(uint64_t start_ns, uint64_t end_ns, size_t from) const;

 private:
  struct Piece {
    uint64_t start_ns;
    uint64_t end_ns;
    MetricValues values;
  };

  static double OverlapNs(uint64_t start_ns, uint64_t end_ns, const Piece& piece);
  void Spread(const PlannedRun& run, const PlannedRank& rank);

  std::vector<Piece> pieces_;  // by start
  uint64_t longest_ns_ = 0;    // of them
};

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_PLANNED_WORK_H_
