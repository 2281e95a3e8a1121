// When the kernels of one device ran, for the timeline: of the first kMaxKernels kernels, the share
// of each interval that they took. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_KERNEL_SERIES_H_
#define UTLZ_COLLECTOR_TIMELINE_KERNEL_SERIES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/timeline/activity.h"
#include "collector/timeline/bounded_series.h"

namespace utlz {

class KernelSeries {
 public:
  static constexpr size_t kMaxKernels = 512;

  KernelSeries() = default;
  KernelSeries(KernelSeries&&) = default;
  KernelSeries& operator=(KernelSeries&&) = default;

  void Add(const Activity& activity) {
    if (activity.kernel == kNoKernel) return;
    BoundedSeries* series =
        activity.kernel < by_kernel_.size() ? by_kernel_[activity.kernel] : nullptr;
    if (series == nullptr) {
      if (series_.size() >= kMaxKernels) return;
      if (activity.kernel >= by_kernel_.size()) by_kernel_.resize(activity.kernel + size_t{1});
      series = by_kernel_[activity.kernel] = &series_[activity.kernel];
    }
    series->Add(activity.start_ns, activity.end_ns, 1);
  }

  // By index into KernelTable.
  const std::map<uint32_t, BoundedSeries>& series() const { return series_; }

 private:
  std::map<uint32_t, BoundedSeries> series_;
  std::vector<BoundedSeries*> by_kernel_;  // into the map, whose entries stay in their place
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_KERNEL_SERIES_H_
