#include "tools/compare/gate.h"

#include <cmath>
#include <set>
#include <utility>

#include "collector/normal_interval.h"
#include "collector/text/shown_text.h"
#include "tools/compare/change_text.h"
#include "tools/compare/difference_verdict.h"
#include "tools/compare/estimate.h"
#include "tools/compare/other_program.h"
#include "tools/compare/statistics.h"

namespace utlz {
namespace {

using Runs = std::vector<Summary>;

// One-sided chance of error that a gate accepts when it says that a limit is kept or broken.
constexpr double kGateProbability = 0.05;
// So many deviations a normal variable exceeds with that chance.
constexpr double kNormalOneSided95 = 1.6448536269514722;

template <typename Read>
std::set<std::string> Values(const Runs& baseline, const Runs& candidate, Read read) {
  std::set<std::string> values;
  for (const Runs* runs : {&baseline, &candidate}) {
    for (const Summary& run : *runs) values.insert(read(run));
  }
  return values;
}

std::string Joined(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : " and ") + value;
  return text;
}

// Mean SM clock over a run's devices. Absent where one does not know it, or not how well.
std::optional<Estimate> ClockOf(const Summary& run) {
  Estimate clock;
  for (const DeviceSummary& device : run.devices()) {
    if (!device.has_sm_clock_hz() || !device.has_sm_clock_error_hz()) return std::nullopt;
    clock.value += device.sm_clock_hz() / run.devices_size();
    clock.error = std::hypot(clock.error, device.sm_clock_error_hz() / run.devices_size());
  }
  if (run.devices().empty()) return std::nullopt;
  return clock;
}

Estimates ClocksOf(const Runs& runs) {
  Estimates clocks;
  for (const Summary& run : runs) clocks.push_back(ClockOf(run));
  return clocks;
}

std::string ClocksText(const Change& clock) {
  return NumberText(clock.before, "Hz") + " in the baseline, " + NumberText(clock.after, "Hz") +
         " in the candidate, a difference known to ± " +
         NumberText(kNormal95 * clock.error.value_or(0), "Hz");
}

// What the runs' clocks say about whether they may be compared: at most one sentence of either
// kind.
struct ClockFinding {
  std::string refusal;
  std::string note;
};

// Runs may differ in their clocks by nothing but the measured errors: the check looks for exactly
// such a difference, so none is assumed to be usual between runs.
ClockFinding CompareClocks(const Runs& baseline, const Runs& candidate,
                           const GateOptions& options) {
  DiffOptions diff = options.diff;
  diff.run_to_run_share = 0;
  diff.false_alarm_probability = kGateProbability;
  const Change clock =
      CompareEstimates(ClocksOf(baseline), ClocksOf(candidate), {.options = &diff});
  if (!clock.before || !clock.after) {
    return {"", "How well the SM clocks are known was not recorded, so they were not compared."};
  }
  if (!(std::abs(clock.RelativeDelta().value_or(0)) > options.clock_tolerance_share)) return {};
  if (clock.verdict == Verdict::kNoDifference) {
    return {"", "The SM clocks that were seen differ by no more than so few readings leave open: " +
                    ClocksText(clock) + "."};
  }
  return {"The SM clocks differ: " + ClocksText(clock) + ". Lock the clocks or cool the machine.",
          ""};
}

void RefuseFailedRuns(const Runs& runs, const std::string& side,
                      std::vector<std::string>& reasons) {
  for (const Summary& run : runs) {
    if (run.run().has_finished() && !run.run().finished()) {
      reasons.push_back("A profile of the " + side + " ends before its run did.");
    }
    if (run.run().exit_status() != 0 || run.run().signal() != 0) {
      reasons.push_back("A run of the " + side + " failed; its times say nothing.");
    }
  }
}

std::vector<std::string> Refusals(const Runs& baseline, const Runs& candidate,
                                  const GateOptions& options) {
  std::vector<std::string> reasons;
  if (baseline.empty() || candidate.empty()) {
    return {"A side holds no run; give at least one profile for each."};
  }
  const std::set<std::string> devices = Values(baseline, candidate, DevicesText);
  if (!options.allow_other_gpu && devices.size() > 1) {
    reasons.push_back("The profiles are of different GPUs: " + Joined(devices) + ".");
  }
  const std::set<std::string> sources = Values(baseline, candidate, [](const Summary& run) {
    return SourceText(run.capture().counter_source());
  });
  if (!options.allow_other_source && sources.size() > 1) {
    reasons.push_back("The profiles' numbers come from different sources: " + Joined(sources) +
                      ".");
  }
  const std::string clocks = CompareClocks(baseline, candidate, options).refusal;
  if (!options.allow_other_clock && !clocks.empty()) reasons.push_back(clocks);
  RefuseFailedRuns(baseline, "baseline", reasons);
  RefuseFailedRuns(candidate, "candidate", reasons);
  return reasons;
}

std::string CommandOf(const Summary& run) {
  std::string command;
  for (const std::string& word : run.run().command())
    command += (command.empty() ? "" : " ") + word;
  return command;
}

// What the sides ran, where that differs and is known.
std::string CommandsText(const Runs& baseline, const Runs& candidate) {
  constexpr size_t kCommandWidth = 60;
  const std::string before = TerminalName(CommandOf(baseline.front()), kCommandWidth);
  const std::string after = TerminalName(CommandOf(candidate.front()), kCommandWidth);
  if (before == after || before.empty() || after.empty()) return "";
  return " The baseline ran '" + before + "', the candidate '" + after + "'.";
}

struct Measure {
  const char* quantity;
  const char* text;
};
// The first that both sides know is the one that is gated.
constexpr Measure kMeasures[] = {
    {"step_time_ns", "step time"}, {"wall_ns", "wall time"}, {"kernel_time_ns", "kernel time"}};

// Chance of an error as large as `distance`, in one direction.
double ChanceBeyond(const Change& change, double distance) {
  const double error = change.error.value_or(0);
  if (error == 0) return distance > 0 ? 0 : 1;
  const double deviations = distance / error;
  const double two_sided = change.degrees_of_freedom
                               ? StudentTwoSidedProbability(deviations, *change.degrees_of_freedom)
                               : NormalTwoSidedProbability(deviations);
  return distance > 0 ? two_sided / 2 : 1 - two_sided / 2;
}

// How far the change can lie from what was measured, in one direction: the bound that is compared
// with the limit, over what was before.
double BoundDistance(const Change& change) {
  const double deviations = change.degrees_of_freedom
                                ? StudentQuantile(2 * kGateProbability, *change.degrees_of_freedom)
                                : kNormalOneSided95;
  return deviations * change.error.value_or(0) / *change.before;
}

// With the bound that decides: the interval of both sides would be wider than what was tested.
std::string ChangeText(const Change& change, GateOutcome outcome) {
  const double delta = *change.RelativeDelta();
  const double distance = BoundDistance(change);
  const std::string least = "at least " + SignedNumberText(delta - distance, "share");
  const std::string most = "at most " + SignedNumberText(delta + distance, "share");
  std::string bounds = least + " and " + most + ", each";
  if (outcome == GateOutcome::kPass) bounds = most;
  if (outcome == GateOutcome::kRegression) bounds = least;
  return NumberText(change.before, "ns") + " → " + NumberText(change.after, "ns") + " (" +
         SignedNumberText(delta, "share") + "; " + bounds + " at 95 %)";
}

GateOutcome Judge(const Change& change, const GateOptions& options) {
  const double limit = options.max_regression_share * *change.before;
  const double delta = *change.Delta();
  const bool broken = ChanceBeyond(change, delta - limit) <= kGateProbability;
  if (broken) return GateOutcome::kRegression;
  const bool kept = ChanceBeyond(change, limit - delta) <= kGateProbability;
  return kept ? GateOutcome::kPass : GateOutcome::kInconclusive;
}

// A few slow steps can blur the mean so much that it tells nothing. Then the median decides, unless
// the mean, for what it is worth, lies beyond the limit and the median does not.
void JudgeByMedian(const GateOptions& options, GateResult& result) {
  const QuantityChange* median = result.difference.FindQuantity("step_time_median_ns");
  if (result.measure != kMeasures[0].text || median == nullptr || *median->change.before <= 0)
    return;
  const GateOutcome outcome = Judge(median->change, options);
  const bool mean_is_beyond =
      *result.change.Delta() > options.max_regression_share * *result.change.before;
  const bool decides =
      outcome == GateOutcome::kRegression || (outcome == GateOutcome::kPass && !mean_is_beyond);
  if (!decides) return;
  result.reasons.push_back("Slow steps blur the mean step (" +
                           ChangeText(result.change, GateOutcome::kInconclusive) +
                           "), so the median decided.");
  result.outcome = outcome;
  result.measure = "median step time";
  result.change = median->change;
}

void Decide(const GateOptions& options, GateResult& result) {
  result.outcome = Judge(result.change, options);
  if (result.outcome == GateOutcome::kInconclusive) JudgeByMedian(options, result);
  const std::string limit_text = NumberText(options.max_regression_share, "share");
  const std::string measured =
      "The " + result.measure + " went " + ChangeText(result.change, result.outcome);
  const auto say = [&](const std::string& reason) {
    result.reasons.insert(result.reasons.begin(), reason);
  };
  if (result.outcome == GateOutcome::kRegression) {
    say(measured + ", more than the " + limit_text + " allowed.");
  } else if (result.outcome == GateOutcome::kInconclusive) {
    say(measured + "; the error is too large to tell whether the limit of " + limit_text +
        " is kept. Give more runs a side, or longer ones.");
  } else {
    say(measured + ", within the " + limit_text + " allowed.");
  }
}

}  // namespace

GateResult Gate(const Runs& baseline, const Runs& candidate, const GateOptions& options) {
  GateResult result;
  result.reasons = Refusals(baseline, candidate, options);
  Difference difference = DiffRuns(baseline, candidate, options.diff);
  const std::string other_program = OtherProgramText(difference);
  if (!result.reasons.empty()) {
    result.outcome = GateOutcome::kRefused;
    if (!other_program.empty()) result.reasons.insert(result.reasons.begin(), other_program);
    return result;
  }
  if (!other_program.empty() && !options.allow_other_program) {
    result.outcome = GateOutcome::kOtherProgram;
    result.reasons = {other_program + CommandsText(baseline, candidate),
                      "Give runs of one program, or, if the kernels were replaced on purpose, "
                      "--allow-other-program."};
    return result;
  }
  result.difference = std::move(difference);
  for (const Measure& measure : kMeasures) {
    if (const QuantityChange* found = result.difference.FindQuantity(measure.quantity)) {
      result.measure = measure.text;
      result.change = found->change;
      break;
    }
  }
  if (result.measure.empty() || *result.change.before <= 0) {
    result.outcome = GateOutcome::kRefused;
    result.reasons.push_back("The profiles have no time in common: no steps, no wall, no kernels.");
    return result;
  }
  Decide(options, result);
  if (!other_program.empty()) result.reasons.push_back(other_program);
  const std::string clocks = CompareClocks(baseline, candidate, options).note;
  if (!clocks.empty()) result.reasons.push_back(clocks);
  return result;
}

int GateExitStatus(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass:
      return 0;
    case GateOutcome::kRegression:
      return 1;
    case GateOutcome::kInconclusive:
      return 3;
    case GateOutcome::kRefused:
      return 4;
    case GateOutcome::kOtherProgram:
      return 5;
  }
  return 4;
}

}  // namespace utlz
