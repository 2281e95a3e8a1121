#include "collector/metrics/job_progress.h"

#include <algorithm>
#include <string>

#include "collector/gpu_uuid.h"

namespace utlz {
namespace {

// Of the level that the summary's steps are of.
std::optional<double> CountOfSteps(const StepsSummary& steps) {
  for (const StepLevel& level : steps.levels()) {
    if (level.name() == steps.level()) return level.count();
  }
  return std::nullopt;
}

// Up to which the kernels of the steps' GPU are placed in time.
uint64_t PlacedNs(const RunState& state, const std::string& uuid) {
  uint64_t placed_ns = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (uuid.empty() || FormatGpuUuid(state.devices[i].uuid) == uuid) {
      placed_ns = std::max(placed_ns, state.devices[i].sweep.last_ns());
    }
  }
  return placed_ns;
}

}  // namespace

void JobProgress::Update(const RunState& state, const StepsSummary& steps) {
  if (const auto count = CountOfSteps(steps)) Update(PlacedNs(state, steps.device_uuid()), *count);
}

void JobProgress::Update(uint64_t time_ns, double steps) {
  count_.Update(steps);
  if (!points_.empty() && time_ns <= points_.back().time_ns) return;
  points_.push_back({time_ns, count_.value()});
  const auto second_is_enough = [&] {
    const Point& second = points_[1];
    return second.time_ns + kLengthNs <= time_ns && second.steps + kFewestSteps <= count_.value();
  };
  while (points_.size() > 2 && (points_.size() > kMostPoints || second_is_enough())) {
    points_.pop_front();
  }
}

std::optional<double> JobProgress::steps() const {
  if (points_.empty()) return std::nullopt;
  return count_.value();
}

std::optional<double> JobProgress::step_seconds() const {
  if (points_.size() < 2) return std::nullopt;
  const double steps = points_.back().steps - points_.front().steps;
  if (steps < kFewestSteps) return std::nullopt;
  return static_cast<double>(points_.back().time_ns - points_.front().time_ns) * 1e-9 / steps;
}

}  // namespace utlz
