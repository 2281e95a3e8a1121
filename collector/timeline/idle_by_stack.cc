#include "collector/timeline/idle_by_stack.h"

#include <algorithm>

namespace utlz {

void IdleByStack::AddWithStacks(const Activity& activity) {
  any_stack_ = true;
  const bool is_gap = busy_until_ns_ != 0 && activity.start_ns > busy_until_ns_ &&
                      activity.kind != ActivityKind::kUntraced;
  if (is_gap) {
    const uint64_t idle_ns = activity.start_ns - busy_until_ns_;
    if (idle_ns >= kLongNs && long_gaps_.size() < kMostLong) {
      long_gaps_.push_back({busy_until_ns_, activity.start_ns, last_stack_, activity.stack});
    } else {
      uint64_t pair = uint64_t{last_stack_} << 32 | activity.stack;
      if (short_ns_.size() >= kMostPairs && !short_ns_.contains(pair)) pair = 0;
      short_ns_[pair] += idle_ns;
    }
  }
  if (activity.end_ns < busy_until_ns_) return;
  busy_until_ns_ = activity.end_ns;
  last_stack_ = activity.stack;
}

}  // namespace utlz
