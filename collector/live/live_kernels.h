// The kernels that a run spends its time in now: of the last seconds their share and their length,
// of the whole run their work. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_KERNELS_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_KERNELS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/analysis.h"
#include "collector/live/recent_launches.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

// What is known of a kernel over all its launches.
struct KernelOfWholeRun {
  Bound bound = BOUND_UNKNOWN;
  std::optional<double> roof_share;
  std::optional<double> flops_per_second;
  std::optional<double> dram_bytes_per_second;
};

class LiveKernels {
 public:
  static constexpr size_t kMostShown = 64;

  // What is known of the kernels over the whole run; of kernels that are newer it is not known.
  void Renew(const RunState& run_state, const Analysis& analysis);
  void Update(const RunState& run_state);
  void AddTo(const RunState& run_state, LiveSnapshot* snapshot);

  // By kernel, as KernelTable at the last renewal.
  const std::vector<KernelOfWholeRun>& whole_run() const { return whole_; }

 private:
  static void SetWork(const KernelOfWholeRun& whole, LiveKernel* shown);
  const std::string& NameOfKernel(const Kernel& kernel, uint32_t index);

  std::vector<KernelOfWholeRun> whole_;
  RecentLaunches recent_;                  // as KernelTable
  std::map<uint32_t, std::string> names_;  // of those that were shown
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_KERNELS_H_
