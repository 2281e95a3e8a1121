#include "collector/model/activity_ledger.h"

#include <algorithm>

namespace utlz {

void ActivityLedger::Append() {
  if (points_.size() >= kMaxPoints) Halve();
  points_.push_back(now_);
  now_.longest_ns = 0;
  now_.longest_kernel = kNoKernel;
}

void ActivityLedger::Halve() {
  for (size_t i = 0; 2 * i + 1 < points_.size(); ++i) {
    Point joined = points_[2 * i + 1];
    const Point& first = points_[2 * i];
    if (first.longest_ns > joined.longest_ns) {
      joined.longest_ns = first.longest_ns;
      joined.longest_kernel = first.longest_kernel;
    }
    // The first point stays: it is where everything began.
    points_[i] = i == 0 ? first : joined;
  }
  points_.resize(points_.size() / 2);
  stride_ *= 2;
}

void ActivityLedger::Add(const ActivitySegment& segment) {
  if (points_.empty()) {
    now_.time_ns = segment.start_ns;
    Append();
  }
  const uint64_t length_ns = segment.end_ns - segment.start_ns;
  now_.time_ns = segment.end_ns;
  if ((segment.mask & kUntracedMask) != 0) {
    now_.untraced_ns += length_ns;
  } else if ((segment.mask & kKernelMask) != 0) {
    now_.kernel_ns += length_ns;
  } else if (segment.mask != 0) {
    now_.copy_ns += length_ns;
  }
  if (++segments_ < stride_) return;
  segments_ = 0;
  Append();
}

void ActivityLedger::AddLaunch(const Activity& activity) {
  if (points_.empty()) {
    now_.time_ns = activity.start_ns;
    Append();
  }
  ++now_.launches;
  const uint64_t duration_ns = activity.end_ns - activity.start_ns;
  if (duration_ns > now_.longest_ns) {
    now_.longest_ns = duration_ns;
    now_.longest_kernel = activity.kernel;
  }
}

StretchContent ActivityLedger::Until(uint64_t time_ns) const {
  const auto content = [](const Point& point) {
    return StretchContent{.kernel_ns = static_cast<double>(point.kernel_ns),
                          .copy_ns = static_cast<double>(point.copy_ns),
                          .untraced_ns = static_cast<double>(point.untraced_ns),
                          .launches = static_cast<double>(point.launches)};
  };
  const auto after =
      std::lower_bound(points_.begin(), points_.end(), time_ns,
                       [](const Point& point, uint64_t time) { return point.time_ns < time; });
  if (after == points_.end()) return points_.empty() ? StretchContent{} : content(points_.back());
  StretchContent above = content(*after);
  if (after == points_.begin() || after->time_ns == time_ns) return above;
  const StretchContent below = content(*(after - 1));
  const double share = static_cast<double>(time_ns - (after - 1)->time_ns) /
                       static_cast<double>(after->time_ns - (after - 1)->time_ns);
  const auto mix = [share](double low, double high) { return low + share * (high - low); };
  above.kernel_ns = mix(below.kernel_ns, above.kernel_ns);
  above.copy_ns = mix(below.copy_ns, above.copy_ns);
  above.untraced_ns = mix(below.untraced_ns, above.untraced_ns);
  above.launches = mix(below.launches, above.launches);
  return above;
}

StretchContent ActivityLedger::Between(uint64_t start_ns, uint64_t end_ns) const {
  const StretchContent before = Until(start_ns);
  StretchContent content = Until(end_ns);
  content.kernel_ns -= before.kernel_ns;
  content.copy_ns -= before.copy_ns;
  content.untraced_ns -= before.untraced_ns;
  content.launches -= before.launches;
  // A launch is told by the first point after its start.
  for (auto point =
           std::upper_bound(points_.begin(), points_.end(), start_ns,
                            [](uint64_t time, const Point&other) { return time < other.time_ns; });
       point != points_.end(); ++point) {
    if (point->longest_ns > content.longest_ns) {
      content.longest_ns = point->longest_ns;
      content.longest_kernel = point->longest_kernel;
    }
    if (point->time_ns >= end_ns) break;
  }
  return content;
}

}  // namespace utlz
