#include "collector/summary/energy_and_cost.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "collector/analysis/power_in_steps.h"
#include "collector/steps/work_of_step.h"
#include "collector/waterfall_slices.h"

namespace utlz {
namespace {

// FLOPs of which only an upper bound is known, such as those of pipes, are reported as half of it,
// with this relative error. No figure is made of them.
constexpr double kMostUncertainty = 0.5;

// Of all devices together; nothing where one of them does not tell.
std::optional<double> PowerOfAll(const RunState& state, const Analysis& analysis) {
  const std::optional<StepsSpan>& span = analysis.steady.steps;
  if (!span.has_value()) return std::nullopt;
  double watts = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const auto power = PowerInSteps(state.devices[i], *span);
    if (!power.has_value()) return std::nullopt;
    watts += *power;
  }
  return watts > 0 ? std::make_optional(watts) : std::nullopt;
}

// `work`: of a step that was found.
void SetEnergy(const RunState& state, const Analysis& analysis, const Summary& summary,
               const WorkloadSpec& work, EfficiencySummary* efficiency) {
  double joules = 0;
  double flops = 0;
  double flops_variance = 0;
  bool all = summary.devices_size() > 0;
  for (const DeviceSummary& device : summary.devices()) {
    all = all && device.has_energy_joules();
    joules += device.energy_joules();
    flops += device.flops();
    flops_variance += device.flops_error() * device.flops_error();
  }
  const double step_seconds = summary.steps().time_mean_ns() * 1e-9;
  const auto watts = PowerOfAll(state, analysis);
  if (watts.has_value() && step_seconds > 0) {
    efficiency->set_joules_per_step(*watts * step_seconds);
    if (efficiency->has_executed_flops_per_step()) {
      efficiency->set_flops_per_joule(efficiency->executed_flops_per_step() /
                                      efficiency->joules_per_step());
    }
    if (work.tokens_per_step() > 0) {
      efficiency->set_tokens_per_joule(work.tokens_per_step() / efficiency->joules_per_step());
    }
    if (work.items_per_step() > 0) {
      efficiency->set_items_per_joule(work.items_per_step() / efficiency->joules_per_step());
    }
  } else if (all && joules > 0 && flops > 0 &&
             std::sqrt(flops_variance) < kMostUncertainty * flops) {
    efficiency->set_flops_per_joule(flops / joules);
  }
}

// Of the waterfall: what was useful, in the run and in its steady part. What was not traced is
// taken to have been like what was.
struct UsefulShare {
  double of_run = 0;
  double of_window = 0;
};

UsefulShare FindUsefulShare(const Summary& summary) {
  double untraced_share = 0;
  double window_share = 0;  // of the run
  UsefulShare useful;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == kSliceUntraced) untraced_share = slice.share();
    if (slice.has_steady_state_share()) window_share += slice.share();
    if (slice.name() == kSliceUseful) useful.of_window = slice.steady_state_share();
  }
  useful.of_run = useful.of_window * (window_share + untraced_share);
  return useful;
}

double BusyShare(const Summary& summary) {
  double busy_ns = 0;
  double window_ns = 0;
  for (const DeviceSummary& device : summary.devices()) {
    const auto device_ns = static_cast<double>(device.steady_state_ns());
    busy_ns += device.gpu_busy_share() * device_ns;
    window_ns += device_ns;
  }
  return window_ns > 0 ? busy_ns / window_ns : 0;
}

void SetCost(double price_per_hour, const Summary& summary, const WorkloadSpec& work,
             EfficiencySummary* efficiency) {
  if (price_per_hour <= 0) return;
  efficiency->set_price_per_hour(price_per_hour);
  const double per_ns = price_per_hour / 3600e9;
  if (summary.steps().time_mean_ns() > 0) {
    efficiency->set_cost_per_step(per_ns * summary.steps().time_mean_ns());
    if (work.tokens_per_step() > 0) {
      efficiency->set_cost_per_token(efficiency->cost_per_step() / work.tokens_per_step());
    }
    if (work.items_per_step() > 0) {
      efficiency->set_cost_per_item(efficiency->cost_per_step() / work.items_per_step());
    }
  }
  if (summary.has_steady_state()) {
    efficiency->set_cost_idle_per_hour(price_per_hour * std::max(0.0, 1 - BusyShare(summary)));
  }
  if (!efficiency->has_hfu()) return;
  const UsefulShare useful = FindUsefulShare(summary);
  efficiency->set_cost_lost_per_hour(price_per_hour * (1 - useful.of_window));
  if (summary.run().has_wall_ns()) {
    efficiency->set_cost_lost(per_ns * static_cast<double>(summary.run().wall_ns()) *
                              (1 - useful.of_run));
  }
}

// A call of generation and a token, say.
void SetCostOfLevels(double price_per_hour, StepsSummary* steps) {
  for (StepLevel& level : *steps->mutable_levels()) {
    if (level.time_mean_ns() > 0) level.set_cost(price_per_hour / 3600e9 * level.time_mean_ns());
  }
}

}  // namespace

void SummarizeEnergyAndCost(const RunState& state, const Analysis& analysis, Summary* summary) {
  EfficiencySummary efficiency = summary->efficiency();
  const WorkloadSpec work = WorkOfStep(state.work, summary->steps()).value_or(WorkloadSpec());
  SetEnergy(state, analysis, *summary, work, &efficiency);
  SetCost(state.work.price_per_hour(), *summary, work, &efficiency);
  if (state.work.price_per_hour() > 0 && summary->has_steps()) {
    SetCostOfLevels(state.work.price_per_hour(), summary->mutable_steps());
  }
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

}  // namespace utlz
