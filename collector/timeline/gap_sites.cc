#include "collector/timeline/gap_sites.h"

namespace utlz {

void GapSites::Add(const Activity& activity) {
  bool first_launch = false;
  if (activity.kernel != kNoKernel) {
    if (activity.kernel >= seen_.size()) seen_.resize(activity.kernel + size_t{1});
    first_launch = !seen_[activity.kernel];
    seen_[activity.kernel] = true;
  }
  const bool between_kernels = last_kernel_ != kNoKernel && activity.kernel != kNoKernel;
  if (between_kernels && activity.start_ns >= busy_until_ns_ + kShortestNs &&
      gaps_.size() < kMostGaps) {
    gaps_.push_back(
        {busy_until_ns_, activity.start_ns, last_kernel_, activity.kernel, first_launch});
  }
  if (activity.end_ns < busy_until_ns_) return;
  busy_until_ns_ = activity.end_ns;
  last_kernel_ = activity.kernel;
}

}  // namespace utlz
