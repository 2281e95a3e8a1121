#include "collector/timeline/idle_by_stack.h"

#include <algorithm>
#include <tuple>

namespace utlz {
namespace {

// With slices of this length there are four at most.
constexpr int kMostSliceBits = 62;

uint64_t PairOf(const StackGap& gap) { return uint64_t{gap.before} << 32 | gap.after; }

}  // namespace

void IdleByStack::Charge(StackGap gap, const Activity& next) {
  gap.after = next.stack;
  gap.source = next.source;
  if (gap.idle_ns >= kLongNs && long_gaps_.size() < kMostLong) {
    long_gaps_.push_back(gap);
    return;
  }
  if (short_gaps_.size() >= kMostShort) MakeRoom();
  short_gaps_.push_back(gap);
}

void IdleByStack::ChargeWaiting(const Activity& next) {
  for (const StackGap& gap : waiting_) Charge(gap, next);
  waiting_.clear();
}

// Halves them at least, so that a gap costs little on average.
void IdleByStack::MakeRoom() {
  LimitPairs();
  JoinInSlices();
  while (short_gaps_.size() > kMostShort / 2 && slice_bits_ < kMostSliceBits) {
    ++slice_bits_;
    JoinInSlices();
  }
}

void IdleByStack::LimitPairs() {
  for (StackGap& gap : short_gaps_) {
    if (pairs_.size() >= kMostPairs && !pairs_.contains(PairOf(gap))) gap.before = gap.after = 0;
    pairs_.insert(PairOf(gap));
  }
}

void IdleByStack::JoinInSlices() {
  const auto key_of = [this](const StackGap& gap) {
    return std::tuple(gap.start_ns >> slice_bits_, PairOf(gap));
  };
  std::sort(short_gaps_.begin(), short_gaps_.end(), [&](const StackGap& a, const StackGap& b) {
    return std::tuple(key_of(a), a.start_ns) < std::tuple(key_of(b), b.start_ns);
  });
  size_t joined = 0;
  for (size_t i = 1; i < short_gaps_.size(); ++i) {
    const StackGap& gap = short_gaps_[i];
    StackGap& last = short_gaps_[joined];
    if (key_of(gap) != key_of(last)) {
      short_gaps_[++joined] = gap;
      continue;
    }
    last.end_ns = std::max(last.end_ns, gap.end_ns);
    last.idle_ns += gap.idle_ns;
  }
  short_gaps_.resize(std::min(short_gaps_.size(), joined + 1));
}

void IdleByStack::AddWithStacks(const Activity& activity) {
  any_stack_ = true;
  const bool is_untraced = activity.kind == ActivityKind::kUntraced;
  const bool is_copy = activity.stack == 0 && (MaskOf(activity.kind) & kCopyMask) != 0;
  if (busy_until_ns_ != 0 && activity.start_ns > busy_until_ns_ && !is_untraced) {
    const StackGap gap = {.start_ns = busy_until_ns_,
                          .end_ns = activity.start_ns,
                          .idle_ns = activity.start_ns - busy_until_ns_,
                          .before = last_stack_};
    if (is_copy && waiting_.size() < kMostWaiting) {
      waiting_.push_back(gap);
    } else {
      Charge(gap, activity);
    }
  }
  // What follows an untraced time need not be what followed the copy.
  if (!is_copy) ChargeWaiting(activity);
  if (activity.end_ns < busy_until_ns_) return;
  busy_until_ns_ = activity.end_ns;
  if (!is_copy) last_stack_ = activity.stack;
}

}  // namespace utlz
