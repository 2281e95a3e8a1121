// What a launch of each kernel is worth, renewed at a pace of its own: finding that out solves the
// attribution, and takes a hundred times as long as the rest of a snapshot.
//
// Bounded by the run's kernels. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_WORTH_TABLE_H_
#define UTLZ_COLLECTOR_METRICS_WORTH_TABLE_H_

#include <cstdint>
#include <vector>

#include "collector/analysis/analysis.h"
#include "collector/metrics/kernel_worth.h"
#include "collector/run/run_state.h"

namespace utlz {

class WorthTable {
 public:
  void Renew(const RunState& state, const Analysis& analysis);

  // By index into KernelTable. A kernel that is newer than the last renewal is not counted yet.
  const KernelWorth& Of(uint32_t kernel) const {
    return kernel < worths_.size() ? worths_[kernel] : unknown_;
  }
  // How far the run was at the last renewal; 0 before the first.
  uint64_t renewed_ns() const { return renewed_ns_; }
  // The peak of all GPUs of the run together, in FLOP/s; zero where it is not known.
  double peak_of_run() const { return peak_of_run_; }

 private:
  std::vector<KernelWorth> worths_;
  KernelWorth unknown_ = UnknownWorth();
  double peak_of_run_ = 0;
  uint64_t renewed_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_WORTH_TABLE_H_
