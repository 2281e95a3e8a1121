#include "tools/compare/estimate.h"

#include <algorithm>
#include <cmath>

#include "tools/compare/statistics.h"

namespace utlz {
namespace {

struct Side {
  std::vector<double> values;
  double mean = 0;
  double within_variance = 0;  // of the mean, from the runs' own errors
};

std::optional<Side> Gather(const Estimates& estimates) {
  if (estimates.empty()) return std::nullopt;
  Side side;
  for (const std::optional<Estimate>& estimate : estimates) {
    if (!estimate || !std::isfinite(estimate->value)) return std::nullopt;
    side.values.push_back(estimate->value);
    side.within_variance += estimate->error * estimate->error;
  }
  const double runs = static_cast<double>(estimates.size());
  side.mean = Mean(side.values);
  side.within_variance /= runs * runs;
  return side;
}

struct Spread {
  double error = 0;
  std::optional<double> degrees_of_freedom;
  // Of after ÷ before, as a share of it; of numbers above zero, where runs' own errors are all.
  std::optional<double> ratio_error = std::nullopt;
};

double Square(double value) { return value * value; }

Spread PairedSpread(const Side& before, const Side& after) {
  std::vector<double> differences;
  for (size_t i = 0; i < before.values.size(); ++i) {
    differences.push_back(after.values[i] - before.values[i]);
  }
  const double runs = static_cast<double>(differences.size());
  return {std::sqrt(Variance(differences) / runs), runs - 1};
}

// Welch's test: sides of different length and spread.
Spread UnpairedSpread(const Side& before, const Side& after) {
  const double runs_before = static_cast<double>(before.values.size());
  const double runs_after = static_cast<double>(after.values.size());
  const double a = Variance(before.values) / runs_before;
  const double b = Variance(after.values) / runs_after;
  if (a + b == 0) return {0, runs_before + runs_after - 2};
  return {std::sqrt(a + b),
          (a + b) * (a + b) / (a * a / (runs_before - 1) + b * b / (runs_after - 1))};
}

Spread SpreadOf(const Side& before, const Side& after, double run_to_run_share) {
  const double within = std::sqrt(before.within_variance + after.within_variance);
  if (before.values.size() < 2 || after.values.size() < 2) {
    const double between = run_to_run_share * std::hypot(before.mean, after.mean);
    Spread spread = {std::hypot(within, between), std::nullopt, std::nullopt};
    if (before.mean > 0 && after.mean > 0) {
      spread.ratio_error =
          std::sqrt(before.within_variance / Square(before.mean) +
                    after.within_variance / Square(after.mean) + 2 * Square(run_to_run_share));
    }
    return spread;
  }
  Spread spread = before.values.size() == after.values.size() ? PairedSpread(before, after)
                                                              : UnpairedSpread(before, after);
  spread.error = std::max(spread.error, within);
  return spread;
}

// How probable it is that chance alone made the change: the lower of what the difference and the
// ratio of the means say. The ratio helps where the error grows with the value (a time known to
// 25%); the difference helps where one side is nearly 0, so that no ratio is known.
double ProbabilityOf(const Side& before, const Side& after, const Spread& spread) {
  const double delta = after.mean - before.mean;
  if (delta == 0) return 1;
  if (spread.error == 0) return 0;
  double deviations = std::abs(delta) / spread.error;
  if (spread.ratio_error) {
    const double by_ratio = std::abs(std::log(after.mean / before.mean)) / *spread.ratio_error;
    deviations = std::max(deviations, by_ratio);
  }
  return spread.degrees_of_freedom
             ? StudentTwoSidedProbability(deviations, *spread.degrees_of_freedom)
             : NormalTwoSidedProbability(deviations);
}

}  // namespace

Change CompareEstimates(const Estimates& before, const Estimates& after, const TestOptions& test) {
  Change change;
  const std::optional<Side> a = Gather(before);
  const std::optional<Side> b = Gather(after);
  if (a) change.before = a->mean;
  if (b) change.after = b->mean;
  if (!a || !b) return change;
  const Spread spread = SpreadOf(*a, *b, test.options->run_to_run_share);
  const double delta = b->mean - a->mean;
  change.error = spread.error;
  change.degrees_of_freedom = spread.degrees_of_freedom;
  change.probability = ProbabilityOf(*a, *b, spread);
  const bool real =
      *change.probability * test.family_size <= test.options->false_alarm_probability &&
      std::abs(delta) > test.least_effect;
  change.verdict = !real       ? Verdict::kNoDifference
                   : delta < 0 ? Verdict::kDecrease
                               : Verdict::kIncrease;
  return change;
}

}  // namespace utlz
