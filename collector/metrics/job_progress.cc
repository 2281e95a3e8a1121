#include "collector/metrics/job_progress.h"

#include <algorithm>

namespace utlz {
namespace {

// Of the level that the summary's steps are of.
std::optional<double> CountOfSteps(const StepsSummary& steps) {
  for (const StepLevel& level : steps.levels()) {
    if (level.name() == steps.level()) return level.count();
  }
  return std::nullopt;
}

}  // namespace

void JobProgress::Update(const RunState& state, const StepsSummary& steps,
                         const std::optional<StepsSpan>& span) {
  const auto count = CountOfSteps(steps);
  if (!count.has_value()) return;
  Update(*count, state.NewestNs());
  if (span.has_value()) Place(span->end_ns, *count - steps.after_traced());
}

void JobProgress::Update(double steps, uint64_t now_ns) {
  now_ns_ = now_ns;
  any_ = true;
  count_.Update(steps);
}

void JobProgress::Place(uint64_t time_ns, double steps) {
  if (!points_.empty() && time_ns <= points_.back().time_ns) return;
  // Another kernel marks the steps now.
  if (!points_.empty() && steps < points_.back().steps) points_.clear();
  points_.push_back({time_ns, steps});
  const auto second_is_enough = [&] {
    const Point& second = points_[1];
    return second.time_ns + kLengthNs <= time_ns && second.steps + kFewestSteps <= steps;
  };
  while (points_.size() > 2 && (points_.size() > kMostPoints || second_is_enough())) {
    points_.pop_front();
  }
}

std::optional<double> JobProgress::steps() const {
  return any_ ? std::make_optional(count_.value()) : std::nullopt;
}

std::optional<double> JobProgress::LastStepSeconds() const {
  if (points_.size() < 2) return std::nullopt;
  const double steps = points_.back().steps - points_.front().steps;
  if (steps < kFewestSteps) return std::nullopt;
  return static_cast<double>(points_.back().time_ns - points_.front().time_ns) * 1e-9 / steps;
}

std::optional<double> JobProgress::StepSeconds() const {
  const std::optional<double> last = LastStepSeconds();
  if (!last.has_value() || now_ns_ <= points_.back().time_ns) return last;
  const double unseen_seconds = static_cast<double>(now_ns_ - points_.back().time_ns) * 1e-9;
  return unseen_seconds <= std::max(kUnseenSeconds, kUnseenSteps * *last) ? last : std::nullopt;
}

}  // namespace utlz
