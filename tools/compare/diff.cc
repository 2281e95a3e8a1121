#include "tools/compare/diff.h"

#include <algorithm>
#include <cmath>

#include "tools/compare/compare_input.h"
#include "tools/compare/difference_verdict.h"
#include "tools/compare/kernel_match.h"
#include "tools/compare/layer_changes.h"
#include "tools/compare/other_program.h"
#include "tools/compare/overhead_adjustment.h"
#include "tools/compare/run_quantities.h"
#include "tools/compare/slice_changes.h"

namespace utlz {
namespace {

using Runs = std::vector<Summary>;

bool HaveSteps(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const Summary& run) {
    return StepTime(run).has_value() && StepsHeld(run).has_value();
  });
}

std::vector<PerWhat> Units(const Runs& runs, bool per_step) {
  std::vector<PerWhat> units;
  for (const Summary& run : runs) units.push_back({per_step, per_step ? *StepsHeld(run) : 1});
  return units;
}

std::vector<double> DivisorsOf(const std::vector<PerWhat>& units) {
  std::vector<double> divisors;
  for (const PerWhat& unit : units) divisors.push_back(unit.divisor);
  return divisors;
}

double WholeTime(const Runs& runs, bool per_step) {
  double sum = 0;
  for (const Summary& run : runs) {
    const std::optional<Estimate> time = per_step ? StepTime(run) : WallTime(run, 1);
    sum += time ? time->value : 0;
  }
  return sum / static_cast<double>(std::max<size_t>(1, runs.size()));
}

Estimates Read(const RunQuantity& quantity, const Runs& runs, const std::vector<PerWhat>& units) {
  Estimates estimates;
  for (size_t i = 0; i < runs.size(); ++i) {
    estimates.push_back(quantity.read(runs[i], units[i]));
  }
  return estimates;
}

std::vector<QuantityChange> CompareQuantities(const CompareInput& input) {
  std::vector<QuantityChange> changes;
  const double family = static_cast<double>(RunQuantities().size());
  for (const RunQuantity& quantity : RunQuantities()) {
    const Change change =
        CompareEstimates(Read(quantity, input.before, input.units_before),
                         Read(quantity, input.after, input.units_after), input.Test(family, 0));
    if (!change.before && !change.after) continue;
    changes.push_back({quantity.name, quantity.unit, quantity.more_is_better, change});
  }
  return changes;
}

Estimates PerLaunch(const KernelGroup& group) {
  Estimates means;
  for (size_t i = 0; i < group.time_ns.size(); ++i) {
    const double launches = group.launches[i] ? group.launches[i]->value : 0;
    if (launches <= 0) {
      means.push_back(std::nullopt);
      continue;
    }
    means.push_back(
        Estimate{group.time_ns[i]->value / launches, group.time_ns[i]->error / launches});
  }
  return means;
}

KernelChange OneSided(const KernelMatch& match, double least_effect) {
  KernelChange change;
  const bool gone = match.before != nullptr;
  const KernelGroup& group = gone ? *match.before : *match.after;
  (gone ? change.name_before : change.name_after) = group.short_name;
  (gone ? change.shape_before : change.shape_after) = group.shape;
  (gone ? change.time_ns.before : change.time_ns.after) = group.MeanTime();
  if (group.MeanTime() > least_effect) {
    change.time_ns.verdict = gone ? Verdict::kGone : Verdict::kAppeared;
  } else {
    change.time_ns.verdict = Verdict::kNoDifference;
  }
  return change;
}

KernelChange TwoSided(const KernelMatch& match, const TestOptions& time_test,
                      const TestOptions& plain_test) {
  const KernelGroup& a = *match.before;
  const KernelGroup& b = *match.after;
  KernelChange change;
  change.matched_by = match.by;
  change.name_before = a.short_name;
  change.name_after = b.short_name;
  change.shape_before = a.shape;
  change.shape_after = b.shape;
  change.time_ns = CompareEstimates(a.time_ns, b.time_ns, time_test);
  change.time_mean_ns = CompareEstimates(PerLaunch(a), PerLaunch(b), plain_test);
  change.launches = CompareEstimates(a.launches, b.launches, plain_test);
  change.flops = CompareEstimates(a.flops, b.flops, plain_test);
  change.dram_bytes = CompareEstimates(a.dram_bytes, b.dram_bytes, plain_test);
  return change;
}

double TimeMoved(const KernelChange& change) {
  return std::abs(change.time_ns.after.value_or(0) - change.time_ns.before.value_or(0));
}

std::vector<KernelChange> CompareKernels(const CompareInput& input) {
  std::vector<KernelGroup> before = GroupKernels(input.before, DivisorsOf(input.units_before));
  std::vector<KernelGroup> after = GroupKernels(input.after, DivisorsOf(input.units_after));
  JoinUnequalKinds(&before, &after);
  const std::vector<KernelMatch> matches = MatchKernels(before, after);
  const double family = static_cast<double>(matches.size());
  const double least_effect = input.options.least_share * input.whole_ns;
  std::vector<KernelChange> changes;
  for (const KernelMatch& match : matches) {
    changes.push_back(match.before && match.after
                          ? TwoSided(match, input.Test(family, least_effect), input.Test(family, 0))
                          : OneSided(match, least_effect));
  }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const KernelChange& a, const KernelChange& b) { return TimeMoved(a) > TimeMoved(b); });
  return changes;
}

}  // namespace

Difference DiffRuns(const Runs& as_reported_before, const Runs& as_reported_after,
                    const DiffOptions& options) {
  const auto [before, after, tracing_caveats] =
      AdjustForOverhead(as_reported_before, as_reported_after);
  Difference difference;
  difference.runs_before = before.size();
  difference.runs_after = after.size();
  difference.caveats = Caveats(before, after);
  difference.caveats.insert(difference.caveats.end(), tracing_caveats.begin(),
                            tracing_caveats.end());
  if (before.empty() || after.empty()) {
    difference.verdict = DifferenceVerdict(difference);
    return difference;
  }
  difference.per_step = HaveSteps(before) && HaveSteps(after);
  const bool per_step = difference.per_step;
  const CompareInput input{
      before, after, Units(before, per_step), Units(after, per_step), WholeTime(before, per_step),
      options};
  difference.quantities = CompareQuantities(input);
  difference.slices = CompareSlices(input, per_step);
  difference.kernels = CompareKernels(input);
  CompareLayers(input, &difference);
  if (const std::string other = OtherProgramText(difference); !other.empty()) {
    difference.caveats.push_back(other);
  }
  difference.verdict = DifferenceVerdict(difference);
  return difference;
}

Difference Diff(const Summary& before, const Summary& after, const DiffOptions& options) {
  return DiffRuns({before}, {after}, options);
}

}  // namespace utlz
