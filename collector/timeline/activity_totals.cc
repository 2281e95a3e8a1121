#include "collector/timeline/activity_totals.h"

#include <algorithm>
#include <numeric>

namespace utlz {
namespace {

template <typename Source, typename Listener>
void TakeLongest(const Source& from, Listener* to) {
  if (from.longest_ns <= to->longest_ns) return;
  to->longest_ns = from.longest_ns;
  to->longest_kernel = from.longest_kernel;
}

}  // namespace

double StretchContent::KernelNs() const {
  return TimeNs(TimeCategory::kCompute) + TimeNs(TimeCategory::kCommunication);
}

double StretchContent::CopyNs() const {
  return TimeNs(TimeCategory::kPageableCopy) + TimeNs(TimeCategory::kPinnedCopy) +
         TimeNs(TimeCategory::kOtherCopy);
}

double StretchContent::IdleNs() const {
  return std::accumulate(time_ns.begin(), time_ns.begin() + kGapCategories, 0.0);
}

void ActivityTotals::Append() {
  if (points_.size() >= most_points_) Halve();
  points_.push_back(now_);
  now_.longest_ns = 0;
  now_.longest_kernel = kNoKernel;
}

// The first point stays: it is where everything began. What a point that goes knew of its launches,
// the next one that stays knows then.
void ActivityTotals::Halve() {
  for (size_t i = 1; 2 * i + 1 < points_.size(); ++i) {
    Point joined = points_[2 * i + 1];
    TakeLongest(points_[2 * i], &joined);
    if (i == 1) TakeLongest(points_[1], &joined);
    points_[i] = joined;
  }
  points_.resize(points_.size() / 2);
  stride_ *= 2;
}

void ActivityTotals::Add(const ActivitySegment& segment) {
  if (points_.empty()) {
    now_.time_ns = segment.start_ns;
    Append();
  }
  const uint64_t length_ns = segment.end_ns - segment.start_ns;
  const TimeCategory category = CategoryOf(segment, last_mask_);
  const bool continues =
      !last_was_gap_ && segment.mask == last_mask_ && segment.start_ns == now_.time_ns;
  now_.time_ns = segment.end_ns;
  now_.category_ns[static_cast<size_t>(category)] += length_ns;
  last_was_gap_ = IsGap(category);
  if (last_was_gap_) {
    ++now_.gaps[static_cast<size_t>(category)];
    if (length_ns >= kLongGapNs && long_gaps_.size() < kMaxLongGaps) {
      long_gaps_.push_back({segment.start_ns, segment.end_ns, category});
    }
  } else {
    last_mask_ = segment.mask;
  }
  if (continues) return MoveLastPoint(segment.start_ns);
  if (++segments_ < stride_) return;
  segments_ = 0;
  Append();
}

void ActivityTotals::MoveLastPoint(uint64_t time_ns) {
  if (points_.size() < 2 || points_.back().time_ns != time_ns) return;
  Point moved = now_;
  TakeLongest(points_.back(), &moved);
  points_.back() = moved;
  now_.longest_ns = 0;
  now_.longest_kernel = kNoKernel;
}

void ActivityTotals::AddStart(const Activity& activity) {
  if (activity.kind == ActivityKind::kUntraced) return;
  if (points_.empty()) {
    now_.time_ns = activity.start_ns;
    Append();
  }
  if (activity.begins_launch) ++now_.operations;
  if (activity.kernel != kNoKernel) AddLaunch(activity);
}

void ActivityTotals::AddLaunch(const Activity& activity) {
  ++now_.launches;
  const uint64_t duration_ns = activity.end_ns - activity.start_ns;
  if (duration_ns > now_.longest_ns) {
    now_.longest_ns = duration_ns;
    now_.longest_kernel = activity.kernel;
  }
}

StretchContent ActivityTotals::ContentOf(const Point& point) {
  StretchContent content;
  for (size_t i = 0; i < kTimeCategories; ++i) {
    content.time_ns[i] = static_cast<double>(point.category_ns[i]);
  }
  for (size_t i = 0; i < kGapCategories; ++i) content.gaps[i] = static_cast<double>(point.gaps[i]);
  content.launches = static_cast<double>(point.launches);
  content.operations = static_cast<double>(point.operations);
  return content;
}

StretchContent ActivityTotals::Until(uint64_t time_ns) const {
  const auto after =
      std::lower_bound(points_.begin(), points_.end(), time_ns,
                       [](const Point& point, uint64_t time) { return point.time_ns < time; });
  const bool past_points = after == points_.end();
  if (past_points && now_.time_ns <= time_ns) return ContentOf(now_);
  const Point& next = past_points ? now_ : *after;
  StretchContent above = ContentOf(next);
  if (after == points_.begin() || next.time_ns == time_ns) return above;
  const Point& previous = *(after - 1);
  const StretchContent below = ContentOf(previous);
  const double share = static_cast<double>(time_ns - previous.time_ns) /
                       static_cast<double>(next.time_ns - previous.time_ns);
  const auto mix = [share](double low, double high) { return low + share * (high - low); };
  for (size_t i = 0; i < kTimeCategories; ++i) {
    above.time_ns[i] = mix(below.time_ns[i], above.time_ns[i]);
  }
  for (size_t i = 0; i < kGapCategories; ++i) above.gaps[i] = mix(below.gaps[i], above.gaps[i]);
  above.launches = mix(below.launches, above.launches);
  above.operations = mix(below.operations, above.operations);
  return above;
}

StretchContent ActivityTotals::Between(uint64_t start_ns, uint64_t end_ns) const {
  const StretchContent before = Until(start_ns);
  StretchContent content = Until(end_ns);
  for (size_t i = 0; i < kTimeCategories; ++i) content.time_ns[i] -= before.time_ns[i];
  for (size_t i = 0; i < kGapCategories; ++i) content.gaps[i] -= before.gaps[i];
  content.launches -= before.launches;
  content.operations -= before.operations;
  // A launch is found by the first point after its start.
  for (auto point =
           std::upper_bound(points_.begin(), points_.end(), start_ns,
                            [](uint64_t time, const Point& other) { return time < other.time_ns; });
       point != points_.end(); ++point) {
    TakeLongest(*point, &content);
    if (point->time_ns >= end_ns) return content;
  }
  if (now_.time_ns > start_ns) TakeLongest(now_, &content);
  return content;
}

}  // namespace utlz
