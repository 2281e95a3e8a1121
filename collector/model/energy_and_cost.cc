#include "collector/model/energy_and_cost.h"

#include <optional>

#include "collector/model/waterfall.h"

namespace utlz {
namespace {

// Of all devices together; nothing where one of them does not tell.
std::optional<double> PowerInSteps(const ModelState& model, const Analysis& analysis) {
  const std::optional<StepsSpan>& span = analysis.steady.steps;
  if (!span.has_value()) return std::nullopt;
  double watts = 0;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (!model.devices[i].used) continue;
    const auto power = model.devices[i].totals.PowerBetween(span->start_ns, span->end_ns);
    if (!power.has_value()) return std::nullopt;
    watts += *power;
  }
  return watts > 0 ? std::make_optional(watts) : std::nullopt;
}

void SetEnergy(const ModelState& model, const Analysis& analysis, const Summary& summary,
               EfficiencySummary* efficiency) {
  double joules = 0;
  double flops = 0;
  bool all = summary.devices_size() > 0;
  for (const DeviceSummary& device : summary.devices()) {
    all = all && device.has_energy_joules();
    joules += device.energy_joules();
    flops += device.flops();
  }
  const double step_seconds = summary.steps().time_mean_ns() * 1e-9;
  const auto watts = PowerInSteps(model, analysis);
  if (watts.has_value() && step_seconds > 0) {
    efficiency->set_joules_per_step(*watts * step_seconds);
    if (efficiency->has_executed_flops_per_step()) {
      efficiency->set_flops_per_joule(efficiency->executed_flops_per_step() /
                                      efficiency->joules_per_step());
    }
    if (model.work.tokens_per_step() > 0) {
      efficiency->set_tokens_per_joule(model.work.tokens_per_step() /
                                       efficiency->joules_per_step());
    }
  } else if (all && joules > 0 && flops > 0) {
    efficiency->set_flops_per_joule(flops / joules);
  }
}

// What is lost is what the waterfall does not call useful.
void SetCost(const ModelState& model, const Summary& summary, EfficiencySummary* efficiency) {
  const double price_per_hour = model.work.price_per_hour();
  if (price_per_hour <= 0) return;
  efficiency->set_price_per_hour(price_per_hour);
  const double per_ns = price_per_hour / 3600e9;
  if (summary.steps().time_mean_ns() > 0) {
    efficiency->set_cost_per_step(per_ns * summary.steps().time_mean_ns());
    if (model.work.tokens_per_step() > 0) {
      efficiency->set_cost_per_token(efficiency->cost_per_step() / model.work.tokens_per_step());
    }
  }
  double useful_share = 0;
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == kSliceUseful) useful_share = slice.share();
  }
  if (summary.run().has_wall_ns() && efficiency->has_hfu()) {
    efficiency->set_cost_lost(per_ns * static_cast<double>(summary.run().wall_ns()) *
                              (1 - useful_share));
  }
}

}  // namespace

void SummarizeEnergyAndCost(const ModelState& model, const Analysis& analysis, Summary* summary) {
  EfficiencySummary efficiency = summary->efficiency();
  SetEnergy(model, analysis, *summary, &efficiency);
  SetCost(model, *summary, &efficiency);
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

}  // namespace utlz
