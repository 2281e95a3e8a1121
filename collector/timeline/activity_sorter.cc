#include "collector/timeline/activity_sorter.h"

#include <algorithm>

namespace utlz {
namespace {

bool StartsEarlier(const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; }

}  // namespace

// Moves what is left only once a quarter of it can be freed, so that each is moved four times at
// most.
void ActivitySorter::DropReleased() {
  if (first_ < held() / 4) return;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(first_));
  ordered_ -= first_;
  first_ = 0;
}

void ActivitySorter::Order() {
  if (ordered_ == held_.size()) return;
  const auto begin = held_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto middle = held_.begin() + static_cast<std::ptrdiff_t>(ordered_);
  std::sort(middle, held_.end(), StartsEarlier);
  std::inplace_merge(std::upper_bound(begin, middle, *middle, StartsEarlier), middle, held_.end(),
                     StartsEarlier);
  ordered_ = held_.size();
}

uint64_t ActivitySorter::MiddleNs() const {
  std::vector<uint64_t> starts_ns;
  for (size_t i = first_; i < held_.size(); ++i) starts_ns.push_back(held_[i].start_ns);
  const auto middle = starts_ns.begin() + static_cast<std::ptrdiff_t>(starts_ns.size() / 2);
  std::nth_element(starts_ns.begin(), middle, starts_ns.end());
  return *middle;
}

std::span<const Activity> ActivitySorter::Release(uint64_t watermark_ns, uint64_t* reached_ns) {
  DropReleased();
  Order();
  if (full()) {
    watermark_ns = std::max(watermark_ns, held_[first_ + held() / 2].start_ns + 1);
  }
  const auto begin = held_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto end = std::partition_point(begin, held_.end(), [=](const Activity& activity) {
    return activity.start_ns < watermark_ns;
  });
  first_ += static_cast<size_t>(end - begin);
  *reached_ns = watermark_ns;
  return {begin, end};
}

}  // namespace utlz
