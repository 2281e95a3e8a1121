#include "tools/compare/overhead_adjustment.h"

#include <algorithm>
#include <string_view>

#include "collector/waterfall_slices.h"
#include "tools/compare/change_text.h"

namespace utlz {
namespace {

using Runs = std::vector<Summary>;

// Tracing the nodes of one and the same graph cost 760 to 1,220 ns a node in five runs
// (docs/measurements/overhead.md).
constexpr double kRunToRunShare = 0.25;
// Of the time: less is not worth a sentence.
constexpr double kWorthSaying = 0.05;

constexpr std::string_view kIdleSlices = "idle: ";

struct Slowdown {
  double time_ns = 0;  // without it
  double added_ns = 0;
  double error_ns = 0;
};

// Of a step where there are steps, else of the window.
Slowdown TakenOut(const Summary& run) {
  const StepsSummary& steps = run.steps();
  if (steps.has_time_mean_ns()) {
    return {steps.time_mean_ns(), steps.slowdown_time_ns(), steps.slowdown_error_ns()};
  }
  const SteadyStateSummary& window = run.steady_state();
  return {window.time_ns(), window.slowdown_time_ns(), window.slowdown_error_ns()};
}

bool LeavesItOut(const Summary& run) { return TakenOut(run).added_ns > 0; }

double ShareOfTracing(const Summary& run) {
  const Slowdown slowdown = TakenOut(run);
  if (slowdown.added_ns <= 0) return run.capture().steady_state_slowdown_share();
  return slowdown.added_ns / (slowdown.time_ns + slowdown.added_ns);
}

void LengthenSteps(double added_ns, StepsSummary* steps) {
  steps->set_time_mean_ns(steps->time_mean_ns() + added_ns);
  if (steps->has_time_p50_ns()) steps->set_time_p50_ns(steps->time_p50_ns() + added_ns);
  if (steps->has_time_p99_ns()) steps->set_time_p99_ns(steps->time_p99_ns() + added_ns);
  if (steps->has_idle_time_ns()) steps->set_idle_time_ns(steps->idle_time_ns() + added_ns);
  steps->clear_slowdown_time_ns();
  steps->clear_slowdown_error_ns();
}

// `stretch`: by how many times tracing lengthened the device's window.
void LengthenDevice(double stretch, DeviceSummary* device) {
  const auto lower = [stretch](bool has, double share, auto set) {
    if (has) set(share / stretch);
  };
  device->set_steady_state_ns(
      static_cast<uint64_t>(static_cast<double>(device->steady_state_ns()) * stretch));
  lower(device->has_gpu_busy_share(), device->gpu_busy_share(),
        [&](double share) { device->set_gpu_busy_share(share); });
  lower(device->has_sm_active_share(), device->sm_active_share(),
        [&](double share) { device->set_sm_active_share(share); });
  lower(device->has_tensor_active_share(), device->tensor_active_share(),
        [&](double share) { device->set_tensor_active_share(share); });
  lower(device->has_hbm_bandwidth_share(), device->hbm_bandwidth_share(),
        [&](double share) { device->set_hbm_bandwidth_share(share); });
  lower(device->has_hfu(), device->hfu(), [&](double share) { device->set_hfu(share); });
  lower(device->has_hfu_error(), device->hfu_error(),
        [&](double error) { device->set_hfu_error(error); });
  lower(device->has_hfu_error_assumed(), device->hfu_error_assumed(),
        [&](double error) { device->set_hfu_error_assumed(error); });
}

void LengthenEfficiency(double stretch, EfficiencySummary* efficiency) {
  if (efficiency->has_hfu()) efficiency->set_hfu(efficiency->hfu() / stretch);
  if (efficiency->has_hfu_error()) efficiency->set_hfu_error(efficiency->hfu_error() / stretch);
  if (efficiency->has_hfu_error_assumed()) {
    efficiency->set_hfu_error_assumed(efficiency->hfu_error_assumed() / stretch);
  }
  if (efficiency->has_mfu()) efficiency->set_mfu(efficiency->mfu() / stretch);
  if (efficiency->has_tokens_per_second()) {
    efficiency->set_tokens_per_second(efficiency->tokens_per_second() / stretch);
  }
  if (efficiency->has_joules_per_step()) {
    efficiency->set_joules_per_step(efficiency->joules_per_step() * stretch);
  }
}

// It was taken out of all gaps alike, and goes back alike.
void FillGaps(WaterfallSummary* waterfall) {
  double idle_ns = 0;
  double added_ns = 0;
  for (const WaterfallSlice& slice : waterfall->slices()) {
    if (slice.name().starts_with(kIdleSlices)) idle_ns += slice.time_ns();
    if (slice.name() == kSliceSlowdown) added_ns += slice.time_ns();
  }
  if (idle_ns <= 0) return;
  const double longer = 1 + added_ns / idle_ns;
  for (WaterfallSlice& slice : *waterfall->mutable_slices()) {
    if (slice.name() == kSliceSlowdown) slice.set_time_ns(0);
    if (!slice.name().starts_with(kIdleSlices)) continue;
    slice.set_time_ns(slice.time_ns() * longer);
    if (slice.has_time_per_step_ns()) slice.set_time_per_step_ns(slice.time_per_step_ns() * longer);
  }
}

double Largest(const Runs& runs) {
  double largest = 0;
  for (const Summary& run : runs) largest = std::max(largest, ShareOfTracing(run));
  return largest;
}

void LengthenAll(Runs* runs) {
  for (Summary& run : *runs) run = AsTraced(run);
}

}  // namespace

double TracingError(const Summary& run) {
  const Slowdown slowdown = TakenOut(run);
  if (slowdown.added_ns <= 0) return kRunToRunShare * run.capture().steady_state_slowdown_share();
  return slowdown.time_ns > 0 ? slowdown.error_ns / slowdown.time_ns : 0;
}

Summary AsTraced(const Summary& run) {
  const Slowdown slowdown = TakenOut(run);
  if (slowdown.added_ns <= 0 || slowdown.time_ns <= 0) return run;
  Summary traced = run;
  const double stretch = 1 + slowdown.added_ns / slowdown.time_ns;
  traced.mutable_capture()->set_steady_state_slowdown_share(ShareOfTracing(run));
  if (traced.has_steps()) LengthenSteps(slowdown.added_ns, traced.mutable_steps());
  SteadyStateSummary* window = traced.mutable_steady_state();
  window->set_time_ns(window->time_ns() * stretch);
  window->clear_slowdown_time_ns();
  window->clear_slowdown_error_ns();
  for (DeviceSummary& device : *traced.mutable_devices()) LengthenDevice(stretch, &device);
  if (traced.has_efficiency()) LengthenEfficiency(stretch, traced.mutable_efficiency());
  if (traced.has_waterfall()) FillGaps(traced.mutable_waterfall());
  return traced;
}

ComparedRuns AdjustForOverhead(const Runs& before, const Runs& after) {
  ComparedRuns compared = {before, after, {}};
  size_t leave_out = 0;
  for (const Runs* runs : {&before, &after}) {
    leave_out += static_cast<size_t>(std::count_if(runs->begin(), runs->end(), LeavesItOut));
  }
  if (leave_out == before.size() + after.size()) return compared;
  const double before_share = Largest(before);
  const double after_share = Largest(after);
  const std::string shares = NumberText(before_share, "share") + " of the time before and " +
                             NumberText(after_share, "share") + " after";
  if (leave_out > 0) {
    LengthenAll(&compared.before);
    LengthenAll(&compared.after);
    compared.caveats.push_back(
        "What tracing itself added could be measured in some of the runs only, so all are compared "
        "as they were traced: " +
        shares + " is tracing's own.");
  } else if (std::max(before_share, after_share) >= kWorthSaying) {
    compared.caveats.push_back("Tracing itself took an estimated " + shares +
                               ", which is in what is compared.");
  }
  return compared;
}

}  // namespace utlz
