#include "collector/timeline/kernel_series.h"

#include <algorithm>

namespace utlz {
namespace {

// By how many times a kernel's time must exceed that of another to take its place: kernels of the
// same steps take about the same, and none of them should lose its series to the next.
constexpr uint64_t kMuchMore = 2;

}  // namespace

void KernelSeries::Add(const Activity& activity) {
  if (activity.kernel == kNoKernel) return;
  if (activity.kernel >= kernels_.size()) kernels_.resize(activity.kernel + size_t{1});
  OfKernel& kernel = kernels_[activity.kernel];
  kernel.time_ns += activity.end_ns - std::min(activity.start_ns, activity.end_ns);
  if (kernel.series == nullptr) {
    if (!MakeRoomFor(kernel)) return;
    kernel.series = &series_[activity.kernel];
  }
  kernel.series->Add(activity.start_ns, activity.end_ns, 1);
}

// Looks at all series only where the kernel has taken much more than the least of them had when
// they were looked at last.
bool KernelSeries::MakeRoomFor(const OfKernel& kernel) {
  if (series_.size() < kMaxKernels) return true;
  if (kernel.time_ns <= kMuchMore * least_ns_) return false;
  const auto least =
      std::min_element(series_.begin(), series_.end(), [this](const auto& a, const auto& b) {
        return kernels_[a.first].time_ns < kernels_[b.first].time_ns;
      });
  least_ns_ = kernels_[least->first].time_ns;
  if (kernel.time_ns <= kMuchMore * least_ns_) return false;
  kernels_[least->first].series = nullptr;
  series_.erase(least);
  return true;
}

}  // namespace utlz
