// How many steps the run has, what they are parts of, and what they consist of.
#include <cmath>
#include <string>

#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "collector/text/wrapped_text.h"
#include "tools/report/levels_text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr double kManyLaunches = 1000;
constexpr char kNoSteps[] =
    "Steps: none found, since no kernel comes back after about the same number of launches; all "
    "figures are of the whole run. utlz report --step-kernel NAME says which kernel begins a step, "
    "and so do NVTX ranges (utlz run --nvtx).";
constexpr char kAbout[] = "about ";
// From so many on a program's end says little of how many there are.
constexpr double kNearlyWhole = 0.05;

const StepLevel* LevelNamed(const StepsSummary& steps, const std::string& name) {
  for (const StepLevel& level : steps.levels()) {
    if (level.name() == name) return &level;
  }
  return nullptr;
}

std::string AboutText(double count) {
  const bool whole = std::abs(count - std::round(count)) <= kNearlyWhole;
  return (whole ? "" : kAbout) + CompactCountText(std::round(count));
}

// A number of runs of generation: the prompt's step is another than those of the tokens.
std::string PrefillText(const StepLevel& call) {
  if (!call.has_prefill_time_ns() || !call.has_decode_time_mean_ns()) return "";
  return ": " + TimeText(call.prefill_time_ns()) + " the first (prefill), then " +
         TimeText(call.decode_time_mean_ns()) + " each";
}

std::string CallText(const StepLevel& call) {
  const std::string of = call.has_count() ? " in each of " + AboutText(call.count()) + " calls of "
                                          : " in each call of ";
  return ", " + AboutText(call.inner()) + of + TimeText(call.time_mean_ns()) + PrefillText(call);
}

std::string RepetitionText(const StepLevel& step, const StepLevel& repetition) {
  return "; a step repeats " + AboutText(repetition.launches()) + " launches " +
         AboutText(step.inner()) + " times, " + TimeText(repetition.time_p50_ns()) + " each";
}

// By which the shortest or the longest step differs from the median where steps are not alike.
constexpr double kUnequal = 1.25;

// Where a pause is part of a step, the longest one says little. Steps of a generation grow with the
// tokens, and its first is said apart.
std::string SpreadText(const StepsSummary& steps) {
  const double median_ns = steps.time_p50_ns();
  if (median_ns <= 0 || steps.pause_time_ns() > 0 || !steps.has_time_maximum_ns() ||
      LevelNamed(steps, "call") != nullptr) {
    return "";
  }
  if (steps.time_maximum_ns() <= kUnequal * median_ns &&
      kUnequal * steps.time_minimum_ns() >= median_ns) {
    return "";
  }
  return ", " + TimeText(steps.time_minimum_ns()) + " to " + TimeText(steps.time_maximum_ns()) +
         " long, half of them within " + TimeText(median_ns);
}

// A few launches need no steps.
bool MissesSteps(const Summary& summary) {
  double launches = 0;
  for (const KernelSummary& kernel : summary.kernels())
    launches += static_cast<double>(kernel.launches());
  return !summary.has_steps() && summary.has_steady_state() && launches >= kManyLaunches;
}

}  // namespace

std::string DescribeLevels(const Summary& summary) {
  const StepsSummary& steps = summary.steps();
  if (MissesSteps(summary)) return kNoSteps;
  const StepLevel* step = LevelNamed(steps, "step");
  if (step == nullptr || step->count() <= 0) return "";
  // Where what ran after the last traced step was not counted, it may have been more of them.
  const bool all_counted = steps.has_after_traced();
  std::string text = all_counted ? "Steps: " : "Steps: at least ";
  text += AboutText(all_counted ? step->count() : std::floor(step->count()));
  if (const StepLevel* call = LevelNamed(steps, "call"); call != nullptr) text += CallText(*call);
  text += SpreadText(steps);
  const StepLevel* repetition = LevelNamed(steps, "repetition");
  if (repetition != nullptr && step->inner() > 0) text += RepetitionText(*step, *repetition);
  if (steps.slowdown_time_ns() > 0) {
    text +=
        "; while traced a step took " + TimeText(steps.time_mean_ns() + steps.slowdown_time_ns());
  }
  if (steps.has_expected_note()) text += "; " + steps.expected_note();
  return text;
}

std::string RenderLevels(const Summary& summary, const TextOptions& options) {
  const std::string text = DescribeLevels(summary);
  return text.empty() ? text : Wrap(EscapeForTerminal(text), options.columns, 2);
}

}  // namespace utlz
