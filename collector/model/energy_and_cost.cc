#include "collector/model/energy_and_cost.h"

#include <optional>

#include "collector/model/waterfall.h"

namespace utlz {
namespace {

// From the first step after the warm-up to the end of the last one that is listed.
std::optional<UntracedGap> SpanOfSteps(const ModelState& model, const StepsSummary& steps) {
  const int first = static_cast<int>(steps.warmup_steps());
  if (!model.run_start.has_value() || first >= steps.start_ns_size()) return std::nullopt;
  const int last = steps.start_ns_size() - 1;
  const double origin_ns = static_cast<double>(model.run_start->time_ns());
  const double start_ns = origin_ns + steps.start_ns(first);
  const double end_ns = origin_ns + steps.start_ns(last) + steps.time_ns(last);
  if (start_ns < 0 || end_ns <= start_ns) return std::nullopt;
  return UntracedGap{static_cast<uint64_t>(start_ns), static_cast<uint64_t>(end_ns)};
}

// Of all devices together; nothing where one of them does not tell.
std::optional<double> PowerInSteps(const ModelState& model, const StepsSummary& steps) {
  const auto span = SpanOfSteps(model, steps);
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

void SetEnergy(const ModelState& model, const Summary& summary, EfficiencySummary* efficiency) {
  double joules = 0;
  double flops = 0;
  bool all = summary.devices_size() > 0;
  for (const DeviceSummary& device : summary.devices()) {
    all = all && device.has_energy_joules();
    joules += device.energy_joules();
    flops += device.flops();
  }
  const double step_seconds = summary.steps().time_mean_ns() * 1e-9;
  const auto watts = PowerInSteps(model, summary.steps());
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

void SummarizeEnergyAndCost(const ModelState& model, Summary* summary) {
  EfficiencySummary efficiency = summary->efficiency();
  SetEnergy(model, *summary, &efficiency);
  SetCost(model, *summary, &efficiency);
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

}  // namespace utlz
