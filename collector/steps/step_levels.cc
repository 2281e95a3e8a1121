#include "collector/steps/step_levels.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "collector/median.h"
#include "collector/steps/calls.h"

namespace utlz {
namespace {

// By how much a count may differ from a whole number and still be rounded to it. Of steps in a call
// it is a share of the count, since the first of them launches other kernels.
constexpr double kStepsTolerance = 0.005;
constexpr double kCallsTolerance = 0.05;

constexpr char kStep[] = "step";

StepLevel* LevelOf(const StepsSummary& summary, const char* name, StepsSummary* to) {
  StepLevel* level = to->add_levels();
  level->set_name(name);
  level->set_source(summary.source());
  return level;
}

// The nearest whole number, if the count is within the tolerance of it.
double WholeIfNear(double count, double tolerance) {
  return std::abs(count - std::round(count)) <= tolerance ? std::round(count) : count;
}

void AddCalls(const FoundSteps& found, const OperationAxis& axis, size_t warmup,
              StepsSummary* summary) {
  if (found.operations <= 0 || !summary->has_launches()) return;
  const auto calls = FindCalls(found, axis, summary->launches());
  if (!calls.has_value()) return;
  StepLevel* level = LevelOf(*summary, "call", summary);
  const double steps = calls->operations / found.operations;
  level->set_inner(WholeIfNear(steps, kStepsTolerance * steps));
  if (calls->count > 0) level->set_count(WholeIfNear(calls->count, kCallsTolerance));
  if (const auto prefill = PrefillOf(*calls, found, warmup, summary->time_p50_ns())) {
    level->set_prefill_time_ns(prefill->time_ns);
    level->set_prefills_traced(prefill->traced);
  }
}

void AddSteps(const FoundSteps& found, double layers, StepsSummary* summary) {
  StepLevel* level = LevelOf(*summary, kStep, summary);
  level->set_count(CountSteps(found, summary->has_after_traced()
                                         ? std::make_optional(summary->after_traced())
                                         : std::nullopt));
  if (summary->levels_size() > 1) {
    const StepLevel& call = summary->levels(0);
    const double in_calls = call.count() * call.inner();
    if (std::abs(in_calls - level->count()) <= call.inner() / 2) level->set_count(in_calls);
  }
  if (summary->has_launches()) level->set_launches(summary->launches());
  if (layers > 0) level->set_inner(layers);
  summary->set_level(level->name());
}

// The mean time of the steps of a call without its first one.
void SetDecodeTime(StepLevel* call) {
  if (!call->has_prefill_time_ns() || call->inner() <= 1) return;
  const double others_ns = call->time_mean_ns() - call->prefill_time_ns();
  if (others_ns > 0) call->set_decode_time_mean_ns(others_ns / (call->inner() - 1));
}

// Times of those in steps after the warm-up.
void AddLayers(const StepFinder::Layers& layers, const FoundSteps& found, size_t warmup,
               double in_step, StepsSummary* summary) {
  std::vector<double> times_ns;
  auto step = found.steps.begin() + static_cast<ptrdiff_t>(warmup);
  for (const auto& [start_ns, end_ns] : layers.times) {
    while (step != found.steps.end() && step->end_ns < end_ns) ++step;
    if (step == found.steps.end()) break;
    if (start_ns >= step->start_ns) times_ns.push_back(static_cast<double>(end_ns - start_ns));
  }
  if (times_ns.empty()) return;
  StepLevel* level = LevelOf(*summary, "repetition", summary);
  level->set_count(in_step * summary->levels(summary->levels_size() - 2).count());
  level->set_launches(layers.launches);
  level->set_time_p50_ns(UpperMedian(std::move(times_ns)));
}

}  // namespace

void SummarizeLevels(const RunState& state, const FoundSteps& found, size_t warmup,
                     StepsSummary* summary) {
  if (found.device == nullptr) return;
  const OperationAxis axis = AxisOf(state, found);
  if (const auto after = StepsAfter(found, axis)) summary->set_after_traced(*after);
  AddCalls(found, axis, warmup, summary);
  const std::optional<StepFinder::Layers> layers =
      found.hold_layers ? found.device->steps.FindLayers() : std::nullopt;
  const double in_step = layers.has_value() ? std::round(layers->in_step) : 0;
  AddSteps(found, in_step, summary);
  if (layers.has_value()) AddLayers(*layers, found, warmup, in_step, summary);
  CopyStepTimes(summary);
}

void CopyStepTimes(StepsSummary* summary) {
  for (StepLevel& level : *summary->mutable_levels()) {
    if (level.name() == "call") {
      level.set_time_mean_ns(level.inner() * summary->time_mean_ns());
      SetDecodeTime(&level);
    }
    if (level.name() != kStep) continue;
    level.set_time_mean_ns(summary->time_mean_ns());
    level.set_time_p50_ns(summary->time_p50_ns());
    level.set_time_p99_ns(summary->time_p99_ns());
  }
}

}  // namespace utlz
