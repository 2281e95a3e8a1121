#include "tools/compare/diff.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "tools/compare/difference_verdict.h"
#include "tools/compare/kernel_match.h"
#include "tools/compare/run_quantities.h"

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

// Both sides with what a test of their numbers needs.
struct Sides {
  const Runs& before;
  const Runs& after;
  std::vector<PerWhat> units_before;
  std::vector<PerWhat> units_after;
  double whole_ns;  // a step, or the run
  const DiffOptions& options;

  TestOptions Test(double family_size, double least_effect) const {
    return {family_size, least_effect, &options};
  }
};

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

std::vector<QuantityChange> CompareQuantities(const Sides& sides) {
  std::vector<QuantityChange> changes;
  const double family = static_cast<double>(RunQuantities().size());
  for (const RunQuantity& quantity : RunQuantities()) {
    const Change change =
        CompareEstimates(Read(quantity, sides.before, sides.units_before),
                         Read(quantity, sides.after, sides.units_after), sides.Test(family, 0));
    if (!change.before && !change.after) continue;
    changes.push_back({quantity.name, quantity.unit, quantity.more_is_better, change});
  }
  return changes;
}

// Start-up, pauses and shutdown belong to no step: put per step, they would differ with the number
// of steps.
bool BelongsToSteps(const WaterfallSlice& slice) {
  return std::none_of(std::begin(kSlicesOutsideSteps), std::end(kSlicesOutsideSteps),
                      [&](const char* name) { return slice.name() == name; });
}

std::vector<std::string> SliceNames(const Sides& sides, bool per_step) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Runs* runs : {&sides.before, &sides.after}) {
    for (const Summary& run : *runs) {
      for (const WaterfallSlice& slice : run.waterfall().slices()) {
        if (per_step && !BelongsToSteps(slice)) continue;
        if (seen.insert(slice.name()).second) names.push_back(slice.name());
      }
    }
  }
  return names;
}

// A slice is a part of a step or a run, so it is as uncertain as that: the part of the whole's
// noise that may sit in any slice.
std::optional<Estimate> ReadSlice(const Summary& run, const std::string& name, const PerWhat& per,
                                  double run_to_run_share) {
  if (!run.has_waterfall()) return std::nullopt;
  const std::optional<Estimate> step = StepTime(run);
  const double relative = step && step->value > 0 ? step->error / step->value : 0;
  double whole = 0;
  Estimate estimate;
  for (const WaterfallSlice& slice : run.waterfall().slices()) {
    if (BelongsToSteps(slice)) whole += SliceTime(slice, per);
    if (slice.name() == name) estimate.value += SliceTime(slice, per);
  }
  estimate.error = whole * std::hypot(relative, run_to_run_share);
  return estimate;
}

std::vector<SliceChange> CompareSlices(const Sides& sides, bool per_step) {
  std::vector<SliceChange> changes;
  const std::vector<std::string> names = SliceNames(sides, per_step);
  for (const std::string& name : names) {
    const auto read = [&](const Runs& runs, const std::vector<PerWhat>& units) {
      const double between = runs.size() < 2 ? sides.options.run_to_run_share : 0;
      Estimates estimates;
      for (size_t i = 0; i < runs.size(); ++i) {
        estimates.push_back(ReadSlice(runs[i], name, units[i], between));
      }
      return estimates;
    };
    const TestOptions test =
        sides.Test(static_cast<double>(names.size()), sides.options.least_share * sides.whole_ns);
    changes.push_back({name, CompareEstimates(read(sides.before, sides.units_before),
                                              read(sides.after, sides.units_after), test)});
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

std::vector<KernelChange> CompareKernels(const Sides& sides) {
  std::vector<KernelGroup> before = GroupKernels(sides.before, DivisorsOf(sides.units_before));
  std::vector<KernelGroup> after = GroupKernels(sides.after, DivisorsOf(sides.units_after));
  JoinUnequalKinds(&before, &after);
  const std::vector<KernelMatch> matches = MatchKernels(before, after);
  const double family = static_cast<double>(matches.size());
  const double least_effect = sides.options.least_share * sides.whole_ns;
  std::vector<KernelChange> changes;
  for (const KernelMatch& match : matches) {
    changes.push_back(match.before && match.after
                          ? TwoSided(match, sides.Test(family, least_effect), sides.Test(family, 0))
                          : OneSided(match, least_effect));
  }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const KernelChange& a, const KernelChange& b) { return TimeMoved(a) > TimeMoved(b); });
  return changes;
}

}  // namespace

Difference DiffRuns(const Runs& before, const Runs& after, const DiffOptions& options) {
  Difference difference;
  difference.runs_before = before.size();
  difference.runs_after = after.size();
  difference.caveats = Caveats(before, after);
  if (before.empty() || after.empty()) {
    difference.verdict = DifferenceVerdict(difference);
    return difference;
  }
  difference.per_step = HaveSteps(before) && HaveSteps(after);
  const bool per_step = difference.per_step;
  const Sides sides{
      before, after, Units(before, per_step), Units(after, per_step), WholeTime(before, per_step),
      options};
  difference.quantities = CompareQuantities(sides);
  difference.slices = CompareSlices(sides, per_step);
  difference.kernels = CompareKernels(sides);
  difference.verdict = DifferenceVerdict(difference);
  return difference;
}

Difference Diff(const Summary& before, const Summary& after, const DiffOptions& options) {
  return DiffRuns({before}, {after}, options);
}

}  // namespace utlz
