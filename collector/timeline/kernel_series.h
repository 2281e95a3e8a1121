// When the kernels of one device ran, for the timeline and for what of them lies in the steps: of
// the kMaxKernels that take most of the time, the share of each interval that they took. A program
// that tunes tries thousands of kernels out before those of its steps come. Thread safety: none.
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

  void Add(const Activity& activity);

  // By index into KernelTable. One that took the place of another lacks what the kernel did before.
  const std::map<uint32_t, BoundedSeries>& series() const { return series_; }
  // Of all launches of the kernel, those before its series began included.
  uint64_t TimeNs(uint32_t kernel) const {
    return kernel < kernels_.size() ? kernels_[kernel].time_ns : 0;
  }

 private:
  struct OfKernel {
    uint64_t time_ns = 0;
    BoundedSeries* series = nullptr;  // in the map, whose entries stay in their place
  };

  // Whether there is a place for it, or one becomes free.
  bool MakeRoomFor(const OfKernel& kernel);

  std::map<uint32_t, BoundedSeries> series_;
  std::vector<OfKernel> kernels_;
  uint64_t least_ns_ = 0;  // no kernel with a series has taken less time
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_KERNEL_SERIES_H_
