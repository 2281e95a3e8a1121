// When the kernels of one device ran, for the timeline: of the first kMaxKernels kernels, the share
// of each interval that they took. Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_KERNEL_SERIES_H_
#define UTLZ_COLLECTOR_MODEL_KERNEL_SERIES_H_

#include <cstdint>
#include <map>

#include "collector/model/activity.h"
#include "collector/model/bounded_series.h"

namespace utlz {

class KernelSeries {
 public:
  static constexpr size_t kMaxKernels = 512;

  void Add(const Activity& activity) {
    if (activity.kernel == kNoKernel) return;
    auto found = series_.find(activity.kernel);
    if (found == series_.end()) {
      if (series_.size() >= kMaxKernels) return;
      found = series_.emplace(activity.kernel, BoundedSeries()).first;
    }
    found->second.Add(activity.start_ns, activity.end_ns, 1);
  }

  // By index into KernelTable.
  const std::map<uint32_t, BoundedSeries>& series() const { return series_; }

 private:
  std::map<uint32_t, BoundedSeries> series_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_KERNEL_SERIES_H_
