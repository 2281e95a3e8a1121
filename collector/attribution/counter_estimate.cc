#include "collector/attribution/counter_estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/attribution/small_sample.h"
#include "collector/normal_interval.h"

namespace utlz::attribution {
namespace {

// A part of a launch's life that is seen less often than this, beside the rest, is hardly seen.
constexpr double kSeldom = 0.7;

// Standard error of what launches that take `longer_ns` longer do, by their scatter: as if each
// were independent, and as stretches of time of different lengths differ, whichever is most.
double Scatter(const ColumnStatistics& statistics, double longer_ns) {
  const uint64_t launches = statistics.launches();
  const double slope = statistics.slope();
  double most = SmallSampleFactor(statistics.KnowsSlope() ? launches - 1 : launches) *
                std::sqrt(statistics.VarianceBesideSlope() / static_cast<double>(launches));
  for (size_t level = 0; level < kClusterLevels; ++level) {
    const ClusterVariance& clusters = statistics.clusters(level);
    if (clusters.clusters() < kFewestClusters) continue;
    most = std::max(
        most, SmallSampleFactor(clusters.clusters()) * std::sqrt(clusters.VarianceOfMean(slope)));
  }
  return most * std::sqrt(statistics.Leverage(longer_ns));
}

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

// What is estimated: one column's share of one counter.
struct Subject {
  const FitModel& model;
  size_t group;
  size_t index;  // of the counter in the group
  size_t column;

  const RateFit& fit() const { return model.fit(group); }
  const WorkColumn& work() const { return model.plan().columns()[column]; }
  size_t counter() const { return model.groups()[group].counters[index]; }
  const ColumnStatistics& statistics() const { return model.statistics(column, counter()); }
  double launches() const { return statistics().covered_launches(); }
};

double Square(double value) { return value * value; }

// Variance of the mean duration of the launches that samples hit, by how launches differ.
double VarianceOfMeanDuration(const Subject& subject) {
  const ColumnStatistics& statistics = subject.statistics();
  double most = subject.model.duration_variance(subject.column) /
                static_cast<double>(std::max<uint64_t>(1, statistics.launches()));
  for (size_t level = 0; level < kClusterLevels; ++level) {
    const ClusterVariance& clusters = statistics.clusters(level);
    if (clusters.clusters() < kFewestClusters) continue;
    most = std::max(most, clusters.VarianceOfCovariateMean());
  }
  return most;
}

// By how much longer all launches are than those that samples hit, because they are other launches:
// the rest of the difference is taken for that of clocks and neighbours, which change no work.
double LongerNs(const Subject& subject, const Options& options) {
  const double mean_ns = subject.model.mean_duration_ns(subject.column);
  const double of_launches = VarianceOfMeanDuration(subject);
  const double of_clocks = Square(options.reproducibility * mean_ns);
  if (of_launches <= 0) return 0;
  return of_launches / (of_launches + of_clocks) * subject.statistics().LongerNs(mean_ns);
}

// Of one launch by what it shared alone: how far launches differ, others show (borrowed_errors.h).
double Noise(const Subject& subject, double longer_ns) {
  const ColumnStatistics& statistics = subject.statistics();
  return statistics.launches() > 1 ? Scatter(statistics, longer_ns)
                                   : statistics.shared() / subject.launches();
}

// How far the fitted rates, without the division of each sample's count, lie from the value.
double Misfit(const Subject& subject) {
  const double fitted = subject.fit().FittedTotal(subject.index, subject.work());
  return std::abs(fitted / subject.launches() -
                  subject.statistics().attributed() / subject.launches());
}

// What was counted while it ran cannot be separated from the background of idle times.
double Background(const Subject& subject) {
  return subject.fit().rate(subject.index, ColumnPlan::kIdleCoefficient) *
         subject.model.mean_duration_ns(subject.column) * 1e-3;
}

// Work that others did next to an edge may be counted on the wrong side of it: for each nanosecond
// as much as the fit moves with the shift, where that was tried, else all that lies between.
double MisplacedPerNs(const Subject& subject, double beside) {
  return subject.model.ShiftSensitivity(subject.column, subject.counter()).value_or(beside);
}

// Variance of what samples show.
double Measured(const Subject& subject, double longer_ns, double confounded, double shared_share,
                double misplaced_per_ns, const EdgeError& edge_error) {
  return Square(Noise(subject, longer_ns)) + Square(confounded) + Square(Background(subject)) +
         Square(Misfit(subject) * shared_share) + Square(edge_error.measured_ns * misplaced_per_ns);
}

// Variance by the constants of `options`.
double Assumed(const Subject& subject, double longer_ns, double value, double shared,
               double misplaced_per_ns, double beside, const EdgeError& edge_error,
               const Options& options) {
  // What it did where samples hardly ever saw it is a guess, by what it did elsewhere.
  const double unseen = options.rate_spread * value * UnseenShare(subject.fit(), subject.work());
  const bool tried = subject.model.ShiftSensitivity(subject.column, subject.counter()).has_value();
  const double stamped = tried ? options.timestamp_error_ns * beside : 0;
  const double guessed = options.rate_spread * subject.statistics().GuessedOfLonger(longer_ns);
  return Square(options.shape_error * shared) + Square(edge_error.assumed_ns * misplaced_per_ns) +
         Square(stamped) + Square(unseen) + Square(guessed) +
         Square(options.reproducibility * value);
}

}  // namespace

EdgeError EdgeErrorOf(const ShiftEstimate& shift, const Options& options) {
  const double of_shift_ns = shift.uncertainty_ns / kNormal95;
  // Another group's, or what was known beforehand.
  if (!shift.shift_ns) return {.assumed_ns = std::hypot(of_shift_ns, options.edge_error_ns)};
  return {.measured_ns = of_shift_ns, .assumed_ns = options.edge_error_ns};
}

CounterEstimate EstimateCounter(const FitModel& model, const FitCovariance& covariance,
                                size_t group, size_t index, size_t column,
                                const EdgeError& edge_error, const Options& options) {
  const Subject subject{model, group, index, column};
  const ColumnStatistics& statistics = subject.statistics();
  CounterEstimate estimate;
  estimate.attributed = statistics.attributed();
  if (subject.launches() <= 0) return estimate;
  const double longer_ns = LongerNs(subject, options);
  const double value = statistics.PerLongerLaunch(longer_ns);
  const double shared = statistics.shared() / subject.launches();
  const double shared_share = value > 0 ? std::min(1.0, shared / value) : 1;
  const double confounded =
      std::sqrt(statistics.residual_variance()) * covariance.Deviation(column) / subject.launches();
  const double beside = statistics.others_rates() / subject.launches();
  const double misplaced_per_ns = MisplacedPerNs(subject, beside);
  const double measured =
      Measured(subject, longer_ns, confounded, shared_share, misplaced_per_ns, edge_error);
  const double assumed =
      Assumed(subject, longer_ns, value, shared, misplaced_per_ns, beside, edge_error, options);
  estimate.per_launch = value;
  estimate.assumed_error = std::sqrt(assumed);
  estimate.standard_error = std::sqrt(measured + assumed);
  return estimate;
}

}  // namespace utlz::attribution
