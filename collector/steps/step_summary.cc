#include "collector/steps/step_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/run/untraced_time.h"
#include "collector/run/workload_spec.h"
#include "collector/steps/found_steps.h"
#include "collector/steps/hold_ups.h"
#include "collector/steps/step_drift.h"
#include "collector/steps/step_levels.h"
#include "collector/steps/work_of_step.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 3;
constexpr size_t kMaxListed = 2000;
constexpr size_t kMaxSlow = 100;
// A cause is named if it explains this share of the time by which a slow step is longer.
constexpr double kWorthNaming = 0.2;
// Launches differ by a few from step to step.
constexpr double kMoreLaunches = 1.02;
// A pattern is accepted as steps if this share of them has about as many launches as the usual one.
constexpr double kAlikeShare = 0.7;
constexpr double kAlikeLaunches = 0.1;
// Or, in rounds of unequal length, if this share of them is not much longer or shorter.
constexpr double kRoundsShare = 0.9;
constexpr double kRoundsLaunches = 0.35;
// The warm-up ends with the last step up to which so many were slow.
constexpr double kWarmupSlowShare = 0.8;

// Whole steps show a trend of a run only if they span this share of its time.
constexpr double kSeenForDrift = 0.5;

struct Weighed {
  double value;
  double weight;
};

template <typename Value>
std::vector<Weighed> Sorted(const std::vector<Step>& steps, size_t first, Value value) {
  std::vector<Weighed> values;
  for (size_t i = first; i < steps.size(); ++i) {
    values.push_back({value(steps[i]), steps[i].weight});
  }
  std::sort(values.begin(), values.end(),
            [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  return values;
}

// Between two values the quantile moves as far as half the weight of both.
double Quantile(const std::vector<Weighed>& sorted, double share) {
  double length = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    length += (sorted[i - 1].weight + sorted[i].weight) / 2;
  }
  double left = share * length;
  for (size_t i = 1; i < sorted.size(); ++i) {
    const double step = (sorted[i - 1].weight + sorted[i].weight) / 2;
    if (left <= step) {
      return sorted[i - 1].value + (sorted[i].value - sorted[i - 1].value) * left / step;
    }
    left -= step;
  }
  return sorted.back().value;
}

double Mean(const std::vector<Weighed>& values) {
  double sum = 0;
  double weight = 0;
  for (const Weighed& one : values) {
    sum += one.value * one.weight;
    weight += one.weight;
  }
  return sum / weight;
}

// Values that stand for others differ from these as they do from one another.
double StandardErrorOfMean(const std::vector<Weighed>& values) {
  const double mean = Mean(values);
  double sum = 0;
  double weight = 0;
  for (const Weighed& one : values) {
    sum += std::pow(one.weight * (one.value - mean), 2);
    weight += one.weight;
  }
  return std::sqrt(sum) / weight;
}

// Medians of the steps after the warm-up: what a step is compared with.
struct Usual {
  double length_ns = 0;
  double kernel_ns = 0;
  double copy_ns = 0;
  double idle_ns = 0;
  double launches = 0;
  double longest_ns = 0;
};

Usual UsualOf(const std::vector<Step>& steps, size_t warmup) {
  const auto median = [&](auto value) { return Quantile(Sorted(steps, warmup, value), 0.5); };
  return {.length_ns = median([](const Step& step) { return step.length_ns(); }),
          .kernel_ns = median([](const Step& step) { return step.content.KernelNs(); }),
          .copy_ns = median([](const Step& step) { return step.content.CopyNs(); }),
          .idle_ns = median([](const Step& step) { return step.idle_ns(); }),
          .launches = median([](const Step& step) { return step.content.launches; }),
          .longest_ns = median(
              [](const Step& step) { return static_cast<double>(step.content.longest_ns); })};
}

// The launch that made the kernels of a step slow, if it was a single one.
std::string LongLaunch(const RunState& state, const Step& step, const Usual& usual) {
  const double more_ns = static_cast<double>(step.content.longest_ns) - usual.longest_ns;
  if (more_ns < 0.5 * (step.content.KernelNs() - usual.kernel_ns)) return {};
  if (step.content.longest_kernel >= state.kernels.kernels().size()) return {};
  const Kernel& kernel = state.kernels[step.content.longest_kernel];
  return " (" + TimeText(static_cast<double>(step.content.longest_ns)) + " in one launch of " +
         ShortenKernelName(DemangleKernelName(kernel.mangled_name)) + ")";
}

std::string ReasonFor(const RunState& state, const Step& step, const Usual& usual) {
  const double more_ns = step.length_ns() - usual.length_ns;
  if (usual.launches <= 0) return "longer by " + TimeText(more_ns);
  std::vector<std::pair<double, std::string>> causes = {
      {step.content.KernelNs() - usual.kernel_ns, "kernels took "},
      {step.content.CopyNs() - usual.copy_ns, "copies alone took "},
      {step.idle_ns() - usual.idle_ns, "no kernel ran for "}};
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string reason;
  for (const auto& [cause_ns, text] : causes) {
    if (cause_ns < kWorthNaming * more_ns) continue;
    reason += (reason.empty() ? "" : ", ") + text + TimeText(cause_ns) + " more";
    if (text == "kernels took ") reason += LongLaunch(state, step, usual);
  }
  const double more_launches = step.content.launches - usual.launches;
  if (step.content.launches > kMoreLaunches * usual.launches && more_launches >= 2) {
    reason += (reason.empty() ? "" : ", with ") + std::to_string(std::llround(more_launches)) +
              " more launches";
  }
  return reason.empty() ? "longer by " + TimeText(more_ns) : reason;
}

// Steps at the start of which nearly all are slow.
size_t WarmupSteps(const std::vector<Step>& steps) {
  const double median_ns =
      Quantile(Sorted(steps, 0, [](const Step& step) { return step.length_ns(); }), 0.5);
  size_t warmup = 0;
  double slow = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].length_ns() <= kSlowStep * median_ns) continue;
    ++slow;
    if (slow >= kWarmupSlowShare * static_cast<double>(i + 1)) warmup = i + 1;
  }
  return warmup;
}

// A kernel may come back in a pattern of which the rest does not: such stretches are no steps.
bool AreAlike(const std::vector<Step>& steps) {
  const double usual =
      Quantile(Sorted(steps, 0, [](const Step& step) { return step.content.launches; }), 0.5);
  const auto share_within = [&](double tolerance) {
    const auto alike = std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
      return std::abs(step.content.launches - usual) <= std::max(1.0, tolerance * usual);
    });
    return static_cast<double>(alike) / static_cast<double>(steps.size());
  };
  return share_within(kAlikeLaunches) >= kAlikeShare ||
         share_within(kRoundsLaunches) >= kRoundsShare;
}

// Steps that follow the last traced one are steps of the run too: their time was not traced.
void SetTracedShare(const ActivityTotals& ledger, const StepsSpan& span, StepsSummary* summary) {
  const double later_ns = UntracedTimeOfLaterSteps(ledger, span);
  const double untraced_ns = ledger.Between(span.start_ns, span.end_ns).UntracedNs() + later_ns;
  const double length_ns = static_cast<double>(span.end_ns - span.start_ns) + later_ns;
  if (length_ns > 0) summary->set_traced_share(std::clamp(1 - untraced_ns / length_ns, 0.0, 1.0));
}

// The mean of a value over all steps. Partly traced steps count in it by their stretch's mean.
template <typename OfStep, typename OfStretch>
double MeanOfAll(const FoundSteps& found, size_t warmup, OfStep of_step, OfStretch of_stretch) {
  std::vector<Weighed> values = Sorted(found.steps, warmup, of_step);
  for (const PartlyTraced& stretch : found.partly_traced) {
    if (stretch.start_ns < found.steps[warmup].start_ns) continue;
    values.push_back({of_stretch(stretch) / stretch.traced_steps, stretch.steps});
  }
  return Mean(values);
}

void SetTimes(const FoundSteps& found, size_t warmup, StepsSummary* summary) {
  const std::vector<Step>& steps = found.steps;
  const std::vector<Weighed> lengths =
      Sorted(steps, warmup, [](const Step& step) { return step.length_ns(); });
  summary->set_steps(steps.size());
  summary->set_warmup_steps(warmup);
  summary->set_time_mean_ns(MeanOfAll(
      found, warmup, [](const Step& step) { return step.length_ns(); },
      [](const PartlyTraced& stretch) { return stretch.TracedNs(); }));
  summary->set_time_p50_ns(Quantile(lengths, 0.5));
  summary->set_time_p99_ns(Quantile(lengths, 0.99));
  summary->set_time_minimum_ns(lengths.front().value);
  summary->set_time_maximum_ns(lengths.back().value);
  if (warmup == 0) return;
  double warmup_ns = 0;
  for (size_t i = 0; i < warmup; ++i) warmup_ns += steps[i].length_ns();
  summary->set_warmup_time_ns(warmup_ns);
}

void SetContents(const FoundSteps& found, size_t warmup, StepsSummary* summary) {
  const auto mean = [&](auto value) {
    return MeanOfAll(
        found, warmup, [&](const Step& step) { return value(step.content); },
        [&](const PartlyTraced& stretch) { return value(stretch.content); });
  };
  const double launches = mean([](const StretchContent& content) { return content.launches; });
  if (launches <= 0) return;
  summary->set_launches(launches);
  summary->set_kernel_time_ns(mean([](const StretchContent& part) { return part.KernelNs(); }));
  summary->set_copy_time_ns(mean([](const StretchContent& part) { return part.CopyNs(); }));
  summary->set_idle_time_ns(MeanOfAll(
      found, warmup, [](const Step& step) { return step.idle_ns(); },
      [](const PartlyTraced& stretch) { return stretch.content.IdleNs(); }));
}

// What each step holds of pauses. Our own hold-ups are out of the steps already.
std::vector<double> PausesIn(const FoundSteps& found, const StepsSpan& span) {
  std::vector<double> pauses_ns(found.steps.size(), 0);
  if (found.device == nullptr) return pauses_ns;
  for (const LongGap& gap : found.ledger().long_gaps()) {
    if (!IsPause(*found.device, span, gap) || found.device->calibration_stalls.Holds(gap)) continue;
    for (size_t i = 0; i < found.steps.size(); ++i) {
      pauses_ns[i] += OverlapNs(gap, found.steps[i].start_ns, found.steps[i].end_ns);
    }
  }
  return pauses_ns;
}

// The same of a stretch of partly traced steps, which has our own hold-ups in it.
double PauseNsIn(const FoundSteps& found, const StepsSpan& span, const PartlyTraced& stretch) {
  double pause_ns = 0;
  for (const LongGap& gap : found.ledger().long_gaps()) {
    if (IsPause(*found.device, span, gap)) {
      pause_ns += OverlapNs(gap, stretch.start_ns, stretch.end_ns);
    }
  }
  return pause_ns;
}

// `pauses_ns`: what each step holds of pauses, which are no fault of its.
void ListSteps(const RunState& state, const std::vector<Step>& steps, size_t warmup,
               const std::vector<double>& pauses_ns, StepsSummary* summary) {
  const Usual usual = UsualOf(steps, warmup);
  const uint64_t origin_ns =
      state.run_start.has_value() ? state.run_start->time_ns() : steps[0].start_ns;
  for (size_t i = 0; i < std::min(steps.size(), kMaxListed); ++i) {
    summary->add_time_ns(steps[i].length_ns());
    summary->add_start_ns(static_cast<double>(steps[i].start_ns) - static_cast<double>(origin_ns));
    if (steps[i].stall_ns > 0 && static_cast<size_t>(summary->held_up_size()) < kMaxSlow) {
      summary->add_held_up(static_cast<uint32_t>(i));
      summary->add_held_up_time_ns(steps[i].stall_ns);
      summary->add_held_up_reason(steps[i].held_up_by);
    }
    const double length_ns = steps[i].length_ns() - pauses_ns[i];
    const bool slow = i >= warmup && length_ns > kSlowStep * usual.length_ns;
    if (!slow || static_cast<size_t>(summary->slow_size()) >= kMaxSlow) continue;
    summary->add_slow(static_cast<uint32_t>(i));
    summary->add_slow_reason(ReasonFor(state, steps[i], usual));
  }
}

std::string LevelCountText(const StepLevel& level) {
  return CountText(static_cast<uint64_t>(std::llround(level.count()))) + " " + level.name() +
         (level.count() >= 1.5 ? "s" : "");
}

// Says whether the number that --steps gave is that of the steps, of another level, or of none, and
// what becomes of work that was given for one of them.
void CompareWithExpected(double expected, const WorkloadSpec& work, StepsSummary* summary) {
  summary->set_expected(expected);
  if (const StepLevel* level = ExpectedLevel(*summary); level != nullptr) {
    const bool steps = level->name() == summary->level();
    const std::string given =
        GivesWork(work) ? "FLOPs, tokens and items are taken as those of a " + level->name() + ", "
                        : "";
    summary->set_expected_note(steps ? "as many as --steps says"
                                     : "what --steps counts are " + LevelCountText(*level) + "; " +
                                           given + "figures a step are of the level named step");
    return;
  }
  std::string found;
  for (const StepLevel& level : summary->levels()) {
    found += (found.empty() ? "" : ", ") + LevelCountText(level);
  }
  summary->set_expected_note(
      "--steps says " + CountText(static_cast<uint64_t>(std::llround(expected))) +
      ", of which there is no level here" + (found.empty() ? std::string() : " (" + found + ")") +
      ": --step-kernel NAME names the kernel that begins a step");
}

// What a step holds of pauses, in the mean that Mean() makes of lengths.
double MeanPauseNs(const FoundSteps& found, const StepsSpan& span, size_t warmup,
                   const std::vector<double>& pauses_ns) {
  std::vector<Weighed> pauses;
  for (size_t i = warmup; i < found.steps.size(); ++i) {
    pauses.push_back({pauses_ns[i], found.steps[i].weight});
  }
  for (const PartlyTraced& stretch : found.partly_traced) {
    if (stretch.start_ns < span.start_ns) continue;
    pauses.push_back({PauseNsIn(found, span, stretch) / stretch.traced_steps, stretch.steps});
  }
  return Mean(pauses);
}

// Steps of one weight in a row, whatever lies between them: it was traced too.
std::vector<TracedSteps> WholeInRows(const std::vector<Step>& steps, size_t warmup) {
  std::vector<TracedSteps> rows;
  for (size_t i = warmup; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const bool follows = i > warmup && !step.after_untraced;
    if (follows) rows.back().end_ns = step.start_ns;
    if (!follows || step.weight != rows.back().weight) {
      rows.push_back({.start_ns = step.start_ns, .weight = step.weight});
    }
    rows.back().end_ns = step.end_ns;
    ++rows.back().steps;
  }
  return rows;
}

// The same with stretches of partly traced steps.
std::vector<TracedSteps> InRows(const FoundSteps& found, size_t warmup) {
  std::vector<TracedSteps> rows = WholeInRows(found.steps, warmup);
  for (const PartlyTraced& stretch : found.partly_traced) {
    if (stretch.start_ns < found.steps[warmup].start_ns) continue;
    const auto length_ns = static_cast<double>(stretch.end_ns - stretch.start_ns);
    rows.push_back({.start_ns = stretch.start_ns,
                    .end_ns = stretch.end_ns,
                    .steps = stretch.traced_steps,
                    .weight = stretch.steps / stretch.traced_steps,
                    .traced_share = stretch.TracedNs() / length_ns});
  }
  std::sort(rows.begin(), rows.end(),
            [](const TracedSteps& a, const TracedSteps& b) { return a.start_ns < b.start_ns; });
  return rows;
}

// Of the time after the warm-up in which the program ran, the share from the first step that was
// traced whole to the last one.
double ShareSeen(const RunState& state, const FoundSteps& found, size_t warmup) {
  if (found.device == nullptr) return 1;
  const uint64_t start_ns = found.steps[warmup].start_ns;
  const uint64_t last_ns = found.steps.back().end_ns;
  const uint64_t end_ns = std::max(last_ns, AxisOf(state, found).end_ns());
  return static_cast<double>(last_ns - start_ns) / static_cast<double>(end_ns - start_ns);
}

// The first seconds of a run do not show that something grows for all of it.
void AddDrift(const RunState& state, const FoundSteps& found, size_t warmup, RunSummary* run) {
  const std::optional<StepDrift> drift = FindDrift(found.steps, warmup);
  if (!drift.has_value() || ShareSeen(state, found, warmup) < kSeenForDrift) return;
  run->add_notices("Steps become longer: " + TimeText(drift->first_ns) + " in the first quarter, " +
                   TimeText(drift->last_ns) +
                   " in the last (medians). Something grows with the steps: lists, logs, the "
                   "host's memory, a cache of keys and values.");
}

// By how much the traced steps are longer than all of them, for which nothing but tracing speaks.
void SetSlowdown(const RunState& state, const FoundSteps& found, size_t warmup, StepsSpan* span) {
  const auto rate = RateOf(found, AxisOf(state, found), warmup);
  if (!rate.has_value() || rate->mean_ns >= rate->traced_mean_ns) return;
  const std::vector<Weighed> lengths =
      Sorted(found.steps, warmup, [](const Step& step) { return step.length_ns(); });
  span->slowdown_share = 1 - rate->mean_ns / rate->traced_mean_ns;
  span->slowdown_standard_error = StandardErrorOfMean(lengths) / rate->traced_mean_ns;
}

// Whether a process on the device went on after its last trace window. What it did then is not
// counted. An agent that can opens a last window when its process ends.
bool HasUncountedTail(const RunState& state, const FoundSteps& found) {
  const auto& processes = state.processes.processes();
  return std::any_of(processes.begin(), processes.end(), [&](const auto& entry) {
    const ProcessState& process = *entry.second;
    return Uses(process, found.device_index) &&
           process.coverage.Tail(process.LivedUntilNs(state.NewestNs())).has_value();
  });
}

std::optional<double> OperationsAfter(const RunState& state, const FoundSteps& found) {
  if (found.device == nullptr || HasUncountedTail(state, found)) return std::nullopt;
  const OperationAxis axis = AxisOf(state, found);
  return axis.Between(found.end_ns(), axis.end_ns());
}

std::optional<StepsSpan> SummarizeFound(const RunState& state, FoundSteps found, Summary* summary) {
  if (found.steps.size() < 2) return std::nullopt;
  if (found.source == "pattern" && !AreAlike(found.steps)) {
    summary->mutable_run()->add_notices(
        "No steps: a kernel comes back in a pattern, but what is launched between its returns is "
        "not "
        "alike. 'utlz report --steps N' or '--step-kernel NAME' says what a step is.");
    return std::nullopt;
  }
  const size_t warmup = WarmupSteps(found.steps);
  if (warmup >= found.steps.size()) return std::nullopt;
  std::vector<HoldUp> hold_ups = FindHoldUps(warmup, &found);
  StepsSummary* steps = summary->mutable_steps();
  steps->set_source(found.source);
  SetTimes(found, warmup, steps);
  SetContents(found, warmup, steps);
  SummarizeLevels(state, found, warmup, steps);
  if (state.options.steps > 0) CompareWithExpected(state.options.steps, state.work, steps);
  const std::string uuid = found.device == nullptr ? "" : FormatGpuUuid(found.device->uuid);
  if (!uuid.empty()) steps->set_device_uuid(uuid);
  StepsSpan span{.start_ns = found.steps[warmup].start_ns,
                 .end_ns = found.end_ns(),
                 .usual_step_ns = steps->time_p50_ns(),
                 .hold_ups = std::move(hold_ups),
                 .traced = InRows(found, warmup),
                 .after_ns = steps->after_traced() * steps->time_mean_ns(),
                 .operations_after = OperationsAfter(state, found),
                 .device = found.device_index};
  const std::vector<double> pauses_ns = PausesIn(found, span);
  ListSteps(state, found.steps, warmup, pauses_ns, steps);
  AddDrift(state, found, warmup, summary->mutable_run());
  if (found.device == nullptr || found.steps.size() - warmup < kFewestSteps) return std::nullopt;
  span.pause_per_step_ns = MeanPauseNs(found, span, warmup, pauses_ns);
  SetSlowdown(state, found, warmup, &span);
  SetTracedShare(found.ledger(), span, steps);
  return span;
}

}  // namespace

std::optional<StepsSpan> SummarizeSteps(const RunState& state, Summary* summary) {
  return SummarizeFound(state, FindSteps(state), summary);
}

std::optional<StepsSpan> SummarizeStepsOf(const RunState& state, uint32_t source,
                                          Summary* summary) {
  return SummarizeFound(state, FindStepsOf(state, source), summary);
}

void TakePausesOutOfSteps(const Analysis& analysis, Summary* summary) {
  const std::optional<StepsSpan>& span = analysis.steady.steps;
  if (!span.has_value() || span->pause_per_step_ns <= 0) return;
  StepsSummary* steps = summary->mutable_steps();
  const auto less = [&](double time_ns) {
    return std::max(0.0, time_ns - span->pause_per_step_ns);
  };
  steps->set_pause_time_ns(span->pause_per_step_ns);
  steps->set_time_mean_ns(less(steps->time_mean_ns()));
  if (steps->has_idle_time_ns()) steps->set_idle_time_ns(less(steps->idle_time_ns()));
}

}  // namespace utlz
