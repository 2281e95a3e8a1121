#include "collector/analysis/traced_slowdown.h"

#include <algorithm>
#include <optional>

#include "collector/analysis/measured_cost.h"

namespace utlz {
namespace {

// A slowdown of fewer standard errors may be chance.
constexpr double kSignificantErrors = 3;

// As shares of `time_ns` of the device's traced time.
struct Slowdown {
  double share;
  double standard_error;
  double time_ns;
};

// The steps' own where they were compared; else that of windows with the gaps beside them.
std::optional<Slowdown> SlowdownOf(const RunState& state, uint32_t device,
                                   const std::optional<StepsSpan>& steps, const DevicePart& part) {
  if (steps.has_value() && steps->slowdown_share.has_value()) {
    return Slowdown{*steps->slowdown_share, steps->slowdown_standard_error, part.TimeNs()};
  }
  const std::optional<MeasuredCost> cost = MeasureCostOn(state, device);
  if (!cost.has_value()) return std::nullopt;
  // A run's first window, which was not compared, holds more than steps.
  return Slowdown{cost->window_share, cost->window_standard_error,
                  steps.has_value() ? part.TimeNs() : std::min(part.TimeNs(), cost->window_ns)};
}

}  // namespace

void TakeSlowdownOut(const RunState& state, uint32_t device, const std::optional<StepsSpan>& steps,
                     DevicePart* part) {
  const std::optional<Slowdown> slowdown = SlowdownOf(state, device, steps, *part);
  const double idle_ns = part->content.IdleNs();
  if (!slowdown.has_value() || idle_ns <= 0) return;
  if (slowdown->share <= kSignificantErrors * slowdown->standard_error) return;
  part->slowdown_ns = std::min(slowdown->share * slowdown->time_ns, idle_ns);
  part->slowdown_error_ns = slowdown->standard_error * slowdown->time_ns;
  const double kept = 1 - part->slowdown_ns / idle_ns;
  for (size_t i = 0; i < kGapCategories; ++i) part->content.time_ns[i] *= kept;
}

void TakeSlowdownOutOfSteps(const Analysis& analysis, Summary* summary) {
  const std::optional<StepsSpan>& span = analysis.steady.steps;
  if (!span.has_value()) return;
  const DevicePart& part = analysis.devices[span->device].part;
  if (part.slowdown_ns <= 0) return;
  StepsSummary* steps = summary->mutable_steps();
  const double per_traced_ns = steps->time_mean_ns() / (part.TimeNs() + part.slowdown_ns);
  const double slowdown_ns = part.slowdown_ns * per_traced_ns;
  const auto less = [slowdown_ns](double time_ns) { return std::max(0.0, time_ns - slowdown_ns); };
  steps->set_slowdown_time_ns(slowdown_ns);
  steps->set_slowdown_error_ns(part.slowdown_error_ns * per_traced_ns);
  steps->set_time_mean_ns(less(steps->time_mean_ns()));
  steps->set_time_p50_ns(less(steps->time_p50_ns()));
  steps->set_time_p99_ns(less(steps->time_p99_ns()));
  if (steps->has_idle_time_ns()) steps->set_idle_time_ns(less(steps->idle_time_ns()));
}

}  // namespace utlz
