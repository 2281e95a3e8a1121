#include "collector/attribution/column_report.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/attribution/column_folding.h"
#include "collector/attribution/shift_search.h"

namespace utlz::attribution {
namespace {

constexpr double kNoticedShare = 1e-3;
// How well one launch's edges are placed by its timestamps, a standard deviation: timers of GPUs
// count in steps of 32 ns and more, and blocks do not start and stop at one moment.
constexpr double kTimestampNs = 50;
// A part of a launch's life that is seen less often than this, beside the rest, is hardly seen.
constexpr double kSeldom = 0.7;
// Rates over a launch's life lie between none and twice the mean, a standard deviation.
constexpr double kRateSpread = 0.58;

// Student's t over the normal's 1.96, so that +-1.96 standard errors of a mean of few launches is
// still a 95 % interval. Fisher's expansion; `launches` > 1.
double SmallSampleFactor(uint64_t launches) {
  const double freedom = static_cast<double>(launches - 1);
  constexpr double z = 1.959964;
  const double first = (z * z * z + z) / (4 * freedom);
  const double second = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
  return freedom < 3 ? (freedom < 2 ? 12.706 : 4.303) / z : (z + first + second) / z;
}

// A variance of fewer clusters says little, even with Student's t.
constexpr size_t kFewestClusters = 4;
// Of what was attributed: columns that did less show no more than how it was divided.
constexpr double kTellingShare = 0.01;

// Standard error of the launches' mean by their scatter: as if each were independent, and as
// stretches of time of different lengths differ, whichever is most.
double Scatter(const ColumnStatistics& statistics) {
  const uint64_t launches = statistics.launches();
  double most = SmallSampleFactor(launches) *
                std::sqrt(statistics.variance() / static_cast<double>(launches));
  for (size_t level = 0; level < kClusterLevels; ++level) {
    const ClusterVariance& clusters = statistics.clusters(level);
    if (clusters.clusters() < kFewestClusters) continue;
    most = std::max(most,
                    SmallSampleFactor(clusters.clusters()) * std::sqrt(clusters.VarianceOfMean()));
  }
  return most;
}

size_t Windows(const Model& model, size_t column, size_t counter) {
  return model.statistics(column, counter).clusters(kWindowLevel).clusters();
}

// Standard deviation of a window's mean beyond its launches' own scatter, a share of the mean, by
// Student's t.
double SpreadOfWindows(const ColumnStatistics& statistics) {
  const size_t windows = statistics.clusters(kWindowLevel).clusters();
  const double by_launches = statistics.variance() * static_cast<double>(windows) /
                             static_cast<double>(statistics.launches());
  const double beyond = statistics.clusters(kWindowLevel).VarianceOfCluster() - by_launches;
  return SmallSampleFactor(windows) * std::sqrt(std::max(0.0, beyond)) / statistics.per_launch();
}

// By how much windows differ for the columns that were seen in some of them: the median by what
// they did. Those that did little differ by how samples are divided.
double UsualSpreadOfWindows(const Model& model, size_t counter) {
  std::vector<std::pair<double, double>> spreads;  // with what the column did
  const double floor = kTellingShare * model.totals()[counter].attributed;
  double all = 0;
  for (size_t column = 0; column < model.plan().columns().size(); ++column) {
    const ColumnStatistics& statistics = model.statistics(column, counter);
    if (Windows(model, column, counter) < kFewestClusters || statistics.per_launch() <= 0 ||
        statistics.attributed() < floor) {
      continue;
    }
    spreads.emplace_back(SpreadOfWindows(statistics), statistics.attributed());
    all += statistics.attributed();
  }
  std::sort(spreads.begin(), spreads.end());
  double below = 0;
  for (const auto& [spread, attributed] : spreads) {
    below += attributed;
    if (2 * below >= all) return spread;
  }
  return 0;
}

// Standard deviations of every column's total for one launch, for a unit noise, from the fit.
class FitCovariance {
 public:
  FitCovariance(const RateFit& fit, const ColumnPlan& plan) {
    const auto coefficients = static_cast<Eigen::Index>(plan.coefficients());
    const auto columns = static_cast<Eigen::Index>(plan.columns().size());
    weights_ = Eigen::MatrixXd::Zero(coefficients, columns);
    for (Eigen::Index column = 0; column < columns; ++column) {
      const WorkColumn& work = plan.columns()[static_cast<size_t>(column)];
      const auto first = static_cast<Eigen::Index>(work.first_coefficient);
      const auto count = static_cast<Eigen::Index>(work.shape.coefficients());
      weights_.col(column).segment(first, count) = fit.exposure().segment(first, count);
    }
    covariance_ = weights_.transpose() * (fit.InverseSystem(plan) * weights_);
  }

  // Of the column's total over all its launches.
  double Deviation(size_t column) const {
    const auto at = static_cast<Eigen::Index>(column);
    return std::sqrt(std::max(0.0, covariance_(at, at)));
  }
  double Correlation(size_t a, size_t b) const {
    const double scale = Deviation(a) * Deviation(b);
    return scale > 0
               ? covariance_(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) / scale
               : 0;
  }

 private:
  Eigen::MatrixXd weights_;
  Eigen::MatrixXd covariance_;
};

// How much of a launch's life samples saw plainly less often than the rest of it: always cut off by
// windows that are in step with the load. What is done after its end is left out: it depends on
// when the next launch starts.
double UnseenShare(const RateFit& fit, const WorkColumn& work) {
  const size_t hats = work.shape.coefficients();
  if (hats < 3) return 0;
  const double duration_ns = work.shape.typical_duration_ns();
  const ProfileShape::Knots knots = work.shape.PlaceKnots(duration_ns, duration_ns);
  std::vector<double> lives;
  std::vector<double> seen;
  for (size_t hat = 0; hat + 1 < hats; ++hat) {
    lives.push_back(work.shape.HatIntegral(knots, hat, 0, duration_ns));
    const auto at = static_cast<Eigen::Index>(work.first_coefficient + hat);
    seen.push_back(lives.back() > 0 ? fit.exposure()(at) / lives.back() : 0);
  }
  std::vector<double> ordered = seen;
  const auto usual = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() * 3 / 4);
  std::nth_element(ordered.begin(), usual, ordered.end());
  double life = 0;
  double unseen = 0;
  for (size_t hat = 0; hat < lives.size(); ++hat) {
    life += lives[hat];
    if (seen[hat] < kSeldom * *usual) unseen += lives[hat] * (1 - seen[hat] / *usual);
  }
  return life > 0 ? unseen / life : 0;
}

CounterEstimate Estimate(const Model& model, const FitCovariance& covariance, size_t group,
                         size_t index, size_t column, double edge_error_ns,
                         const Options& options) {
  const size_t counter = model.groups()[group].counters[index];
  const ColumnStatistics& statistics = model.statistics(column, counter);
  CounterEstimate estimate;
  estimate.attributed = statistics.attributed();
  if (statistics.covered_launches() <= 0) return estimate;
  const double launches = statistics.covered_launches();
  const double value = statistics.per_launch();
  estimate.per_launch = value;

  const double noise =
      statistics.launches() > 1 ? Scatter(statistics) : statistics.shared() / launches;
  // How far the fitted rates, without the division of each sample's count, lie from the value.
  const double fitted = model.fit(group).FittedTotal(index, model.plan().columns()[column]);
  const double misfit = std::abs(fitted / launches - statistics.attributed() / launches);
  const double confounded =
      std::sqrt(statistics.residual_variance()) * covariance.Deviation(column) / launches;
  // What was counted while it ran cannot be told from the background of idle times.
  const double background = model.fit(group).rate(index, ColumnPlan::kIdleCoefficient) *
                            static_cast<double>(model.time_ns(column)) * 1e-3 /
                            static_cast<double>(std::max<uint64_t>(1, model.launches(column)));
  const double shared = statistics.shared() / launches;
  const double shared_share = value > 0 ? std::min(1.0, shared / value) : 1;
  double squares = noise * noise + confounded * confounded + background * background;
  squares += misfit * misfit * shared_share * shared_share;
  squares += options.shape_error * options.shape_error * shared * shared;
  // Work that others did next to an edge may be counted on the wrong side of it: as much as the fit
  // moves with the shift, where that was tried, else all that lies between.
  const double beside = statistics.others_rates() / launches;
  const std::optional<double> sensitivity = model.ShiftSensitivity(column, counter);
  const double misplaced = sensitivity
                               ? std::hypot(edge_error_ns * *sensitivity, kTimestampNs * beside)
                               : edge_error_ns * beside;
  squares += misplaced * misplaced;
  // What it did where samples hardly ever saw it is a guess, by what it did elsewhere.
  const double unseen =
      kRateSpread * value * UnseenShare(model.fit(group), model.plan().columns()[column]);
  squares += unseen * unseen;
  squares += options.reproducibility * options.reproducibility * value * value;
  estimate.standard_error = std::sqrt(squares);
  return estimate;
}

// What was seen in few windows cannot show how windows differ: what differs for others differs
// here.
void AddWindowErrors(const Model& model, std::vector<ColumnEstimate>* columns) {
  for (size_t counter = 0; counter < model.totals().size(); ++counter) {
    const double spread = UsualSpreadOfWindows(model, counter);
    for (size_t column = 0; column < columns->size(); ++column) {
      CounterEstimate& estimate = (*columns)[column].counters[counter];
      const size_t windows = Windows(model, column, counter);
      (*columns)[column].windows = windows;
      if (!estimate.standard_error || windows >= kFewestClusters) continue;
      const double few = std::sqrt(static_cast<double>(std::max<size_t>(1, windows)));
      estimate.standard_error =
          std::hypot(*estimate.standard_error, spread * *estimate.per_launch / few);
    }
  }
}

double PerNs(const ColumnEstimate& column, size_t counter) {
  if (column.time_ns == 0 || !column.counters[counter].per_launch) return 0;
  return *column.counters[counter].per_launch * static_cast<double>(column.launches) /
         static_cast<double>(column.time_ns);
}

// Reads and writes share the device's bandwidth, so the busiest of either sets the scale for both.
double BusiestPerNs(const Options& options, const std::vector<ColumnEstimate>& columns) {
  double busiest_per_ns = 0;
  for (size_t counter = 0; counter < options.counters.size(); ++counter) {
    if (!options.counters[counter].behind_caches) continue;
    for (const ColumnEstimate& column : columns) {
      busiest_per_ns = std::max(busiest_per_ns, PerNs(column, counter));
    }
  }
  return busiest_per_ns;
}

void AddCacheErrors(const Options& options, std::vector<ColumnEstimate>* columns) {
  const double error_per_ns = options.cache_share * BusiestPerNs(options, *columns);
  for (ColumnEstimate& column : *columns) {
    if (column.launches == 0) continue;
    const double mean_ns =
        static_cast<double>(column.time_ns) / static_cast<double>(column.launches);
    for (size_t counter = 0; counter < options.counters.size(); ++counter) {
      std::optional<double>& error = column.counters[counter].standard_error;
      if (!options.counters[counter].behind_caches || !error) continue;
      error = std::hypot(*error, error_per_ns * mean_ns);
    }
  }
}

// Joins columns that one shift group's counters cannot tell apart.
void FoldConfounded(const Model& model, const FitCovariance& covariance, size_t group,
                    ColumnFolding* folding) {
  const size_t columns = model.plan().columns().size();
  for (const size_t counter : model.groups()[group].counters) {
    // Columns that did next to nothing are uncertain in relation to themselves only.
    const double floor = kNoticedShare * model.totals()[counter].attributed;
    for (size_t b = 1; b < columns; ++b) {
      const ColumnStatistics& second = model.statistics(b, counter);
      for (size_t a = 0; a < b; ++a) {
        const ColumnStatistics& first = model.statistics(a, counter);
        if (std::max(first.attributed(), second.attributed()) < floor) continue;
        if (Confounded(first.attributed(),
                       covariance.Deviation(a) * std::sqrt(first.residual_variance()),
                       second.attributed(),
                       covariance.Deviation(b) * std::sqrt(second.residual_variance()),
                       covariance.Correlation(a, b))) {
          folding->Join(a, b);
        }
      }
    }
  }
}

void NameGroups(const ColumnFolding& folding, Solution* solution) {
  for (const std::vector<size_t>& columns : folding.Groups()) {
    const size_t index = solution->groups.size();
    solution->groups.push_back({"indistinct " + std::to_string(index + 1), columns});
    for (const size_t column : columns) solution->columns[column].group = index;
  }
  if (solution->columns[ColumnPlan::kOtherColumn].launches > 0 &&
      !solution->columns[ColumnPlan::kOtherColumn].group) {
    solution->columns[ColumnPlan::kOtherColumn].group = solution->groups.size();
    solution->groups.push_back({"other variants", {ColumnPlan::kOtherColumn}});
  }
}

}  // namespace

void ReportColumns(const Model& model, const VariantTable& variants, const Options& options,
                   Solution* solution) {
  const std::vector<WorkColumn>& columns = model.plan().columns();
  solution->totals = model.totals();
  solution->columns.resize(columns.size());
  for (size_t column = 0; column < columns.size(); ++column) {
    ColumnEstimate& estimate = solution->columns[column];
    estimate.variant = variants.variant(columns[column].variant);
    estimate.kind = variants.kind(columns[column].variant);
    estimate.part = columns[column].part;
    estimate.parts = columns[column].parts;
    estimate.min_duration_ns = columns[column].min_duration_ns;
    estimate.max_duration_ns = columns[column].max_duration_ns;
    estimate.launches = model.launches(column);
    estimate.time_ns = model.time_ns(column);
    estimate.counters.resize(model.totals().size());
  }
  ColumnFolding folding(columns.size());
  for (size_t group = 0; group < model.groups().size(); ++group) {
    const FitCovariance covariance(model.fit(group), model.plan());
    FoldConfounded(model, covariance, group, &folding);
    const double edge_error_ns = EdgeErrorNs(solution->shifts[group]);
    for (size_t column = 0; column < columns.size(); ++column) {
      const std::vector<size_t>& counters = model.groups()[group].counters;
      for (size_t index = 0; index < counters.size(); ++index) {
        solution->columns[column].counters[counters[index]] =
            Estimate(model, covariance, group, index, column, edge_error_ns, options);
        solution->columns[column].sampled_launches =
            model.statistics(column, counters[index]).launches();
      }
    }
  }
  AddWindowErrors(model, &solution->columns);
  AddCacheErrors(options, &solution->columns);
  NameGroups(folding, solution);
}

}  // namespace utlz::attribution
