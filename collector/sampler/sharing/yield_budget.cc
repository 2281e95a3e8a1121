#include "collector/sampler/sharing/yield_budget.h"

#include <algorithm>

namespace utlz {

void YieldBudget::Refill(uint64_t now_ns) {
  if (refilled_ns_ == 0) refilled_ns_ = now_ns;
  const uint64_t gained_ns = (now_ns - refilled_ns_) / kRefillDivisor;
  left_ns_ = std::min(kLongestNs, left_ns_ + gained_ns);
  // What a short time gains in part is not lost, however often we are asked.
  refilled_ns_ += gained_ns * kRefillDivisor;
  if (left_ns_ == kLongestNs) refilled_ns_ = now_ns;
}

uint64_t YieldBudget::Lend(uint64_t now_ns) {
  Refill(now_ns);
  if (lent_until_ns_ <= now_ns) {
    if (left_ns_ < kShortestNs) return 0;
    lent_since_ns_ = now_ns;
  }
  const uint64_t from_ns = std::max(now_ns, lent_until_ns_);
  const uint64_t added_ns = std::min(left_ns_, now_ns + kLongestNs - from_ns);
  left_ns_ -= added_ns;
  lent_until_ns_ = from_ns + added_ns;
  return lent_until_ns_;
}

void YieldBudget::GiveBack(uint64_t now_ns) {
  Refill(now_ns);
  const uint64_t used_until_ns = std::max(now_ns, lent_since_ns_ + kShortestNs);
  if (lent_until_ns_ > used_until_ns) {
    left_ns_ = std::min(kLongestNs, left_ns_ + lent_until_ns_ - used_until_ns);
  }
  lent_until_ns_ = 0;
}

bool YieldBudget::IsFull(uint64_t now_ns) {
  Refill(now_ns);
  return left_ns_ == kLongestNs && lent_until_ns_ <= now_ns;
}

}  // namespace utlz
