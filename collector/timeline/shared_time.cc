#include "collector/timeline/shared_time.h"

#include <algorithm>

namespace utlz {

void SharedTime::MoveTo(uint64_t time_ns) {
  if (time_ns <= now_ns_) return;
  if (!running_.empty()) {
    divided_ns_ += static_cast<double>(time_ns - now_ns_) / static_cast<double>(running_.size());
  }
  now_ns_ = time_ns;
}

void SharedTime::Count(const Running& running, Sums* sums) const {
  sums->time_ns += static_cast<double>(running.end_ns - running.start_ns);
  sums->own_ns += divided_ns_ - running.divided_ns;
}

void SharedTime::CloseUntil(uint64_t time_ns) {
  while (!running_.empty() && running_.top().end_ns <= time_ns) {
    MoveTo(running_.top().end_ns);
    Count(running_.top(), &sums_[running_.top().kernel]);
    running_.pop();
  }
}

// A record that comes too late for its place counts from where time has come to.
void SharedTime::Add(const Activity& activity) {
  if (activity.kind != ActivityKind::kCompute || activity.kernel == kNoKernel) return;
  const uint64_t start_ns = std::max(activity.start_ns, now_ns_);
  if (activity.end_ns <= start_ns) return;
  if (activity.kernel >= sums_.size()) sums_.resize(activity.kernel + 1);
  CloseUntil(start_ns);
  MoveTo(start_ns);
  running_.push({.start_ns = start_ns,
                 .end_ns = activity.end_ns,
                 .divided_ns = divided_ns_,
                 .kernel = activity.kernel});
}

double SharedTime::OwnShare(uint32_t kernel) const {
  if (kernel >= sums_.size() || sums_[kernel].time_ns <= 0) return 1;
  return std::clamp(sums_[kernel].own_ns / sums_[kernel].time_ns, 0.0, 1.0);
}

}  // namespace utlz
