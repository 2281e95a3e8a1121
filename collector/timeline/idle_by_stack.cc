#include "collector/timeline/idle_by_stack.h"

namespace utlz {

void IdleByStack::Charge(const LongGap& gap, uint32_t after) {
  const uint64_t idle_ns = gap.end_ns - gap.start_ns;
  if (idle_ns >= kLongNs && long_gaps_.size() < kMostLong) {
    long_gaps_.push_back({gap.start_ns, gap.end_ns, gap.before, after});
    return;
  }
  uint64_t pair = uint64_t{gap.before} << 32 | after;
  if (short_ns_.size() >= kMostPairs && !short_ns_.contains(pair)) pair = 0;
  short_ns_[pair] += idle_ns;
}

void IdleByStack::ChargeWaiting(uint32_t after) {
  for (const LongGap& gap : waiting_) Charge(gap, after);
  waiting_.clear();
}

void IdleByStack::AddWithStacks(const Activity& activity) {
  any_stack_ = true;
  const bool is_untraced = activity.kind == ActivityKind::kUntraced;
  const bool is_copy = activity.stack == 0 && (MaskOf(activity.kind) & kCopyMask) != 0;
  if (busy_until_ns_ != 0 && activity.start_ns > busy_until_ns_ && !is_untraced) {
    const LongGap gap = {busy_until_ns_, activity.start_ns, last_stack_, activity.stack};
    if (is_copy && waiting_.size() < kMostWaiting) {
      waiting_.push_back(gap);
    } else {
      Charge(gap, activity.stack);
    }
  }
  // What follows an untraced time need not be what followed the copy.
  if (!is_copy) ChargeWaiting(activity.stack);
  if (activity.end_ns < busy_until_ns_) return;
  busy_until_ns_ = activity.end_ns;
  if (!is_copy) last_stack_ = activity.stack;
}

}  // namespace utlz
