#include "collector/steps/work_of_step.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "collector/steps/found_steps.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Levels stand from the outermost one inwards, and each knows how many of the next one it holds;
// 0: not known.
double StepsIn(const StepLevel& level, const StepsSummary& steps) {
  int of_level = 0;
  int of_steps = 0;
  for (int i = 0; i < steps.levels_size(); ++i) {
    if (&steps.levels(i) == &level) of_level = i;
    if (steps.levels(i).name() == steps.level()) of_steps = i;
  }
  double inside = 1;
  for (int i = std::min(of_level, of_steps); i < std::max(of_level, of_steps); ++i) {
    inside *= steps.levels(i).inner();
  }
  return of_level < of_steps || inside <= 0 ? inside : 1 / inside;
}

std::string CountOfSteps(double steps) {
  return steps == std::round(steps) ? CountText(steps) : RatioText(steps);
}

void DivideBy(double steps, WorkloadSpec* work) {
  work->set_flops_per_step(work->flops_per_step() / steps);
  work->set_tokens_per_step(work->tokens_per_step() / steps);
  work->set_padded_tokens_per_step(work->padded_tokens_per_step() / steps);
  work->set_attention_flops_per_step(work->attention_flops_per_step() / steps);
  work->set_forward_flops_per_step(work->forward_flops_per_step() / steps);
  work->set_items_per_step(work->items_per_step() / steps);
}

}  // namespace

const StepLevel* ExpectedLevel(const StepsSummary& steps) {
  const StepLevel* expected = nullptr;
  for (const StepLevel& level : steps.levels()) {
    if (!AreAsMany(level.count(), steps.expected())) continue;
    if (level.name() == steps.level()) return &level;
    if (expected == nullptr) expected = &level;
  }
  return expected;
}

std::optional<WorkloadSpec> WorkOfStep(const WorkloadSpec& work, const StepsSummary& steps) {
  if (!steps.has_expected()) return work;
  const StepLevel* level = ExpectedLevel(steps);
  if (level == nullptr) return std::nullopt;
  if (level->name() == steps.level()) return work;
  const double steps_in_level = StepsIn(*level, steps);
  if (!(steps_in_level > 0)) return std::nullopt;
  WorkloadSpec of_step = work;
  DivideBy(steps_in_level, &of_step);
  if (!work.note().empty()) {
    of_step.set_note(work.note() + "; taken as those of a " + level->name() + ", which is " +
                     CountOfSteps(steps_in_level) + " steps");
  }
  return of_step;
}

}  // namespace utlz
