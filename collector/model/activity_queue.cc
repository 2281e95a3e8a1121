#include "collector/model/activity_queue.h"

#include <algorithm>

namespace utlz {
namespace {

bool StartsEarlier(const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; }

}  // namespace

std::span<const Activity> ActivityQueue::Release(uint64_t watermark_ns, uint64_t* reached_ns) {
  if (full()) {
    const auto middle = held_.begin() + static_cast<std::ptrdiff_t>(held_.size() / 2);
    std::nth_element(held_.begin(), middle, held_.end(), StartsEarlier);
    watermark_ns = std::max(watermark_ns, middle->start_ns + 1);
  }
  const auto kept = std::partition(held_.begin(), held_.end(), [=](const Activity& activity) {
    return activity.start_ns >= watermark_ns;
  });
  released_.assign(kept, held_.end());
  held_.erase(kept, held_.end());
  std::sort(released_.begin(), released_.end(), StartsEarlier);
  *reached_ns = watermark_ns;
  return released_;
}

}  // namespace utlz
