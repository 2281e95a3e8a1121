#include "collector/attribution/shift_search.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/normal_equations.h"
#include "collector/attribution/rate_fit.h"
#include "collector/attribution/sample_walker.h"

namespace utlz::attribution {
namespace {

constexpr size_t kMostSamples = 24576;
constexpr size_t kMostVariants = 96;
constexpr size_t kMostCoefficients = 200;
constexpr double kCoarseStepNs = 500;
constexpr int kCoarseSteps = 8;  // to each side
// A far shift must fit better by this factor: loads that repeat look alike at several shifts. Where
// no near one stands out, by less: what no shift explains is in both.
constexpr double kFarAdvantage = 0.8;
constexpr double kFarAdvantageOverNone = 0.98;
constexpr double kFarStepNs = 1000;
constexpr int kFarSteps = 16;
// A shift that parts of a recording disagree on by more is not determined.
constexpr double kGreatestUncertaintyNs = 500;
// Where rates may vary over a launch's life, shifts are tried in steps of this.
constexpr double kProfileShiftStepNs = 250;
constexpr int kFineSteps = 4;  // to each side of the constant-rate shift
constexpr size_t kParts = 4;
constexpr int kFollowSteps = 3;
// Between two looks a shift is taken to move by so much, a standard deviation: a look that is as
// uncertain as this is believed by half.
constexpr double kDriftNs = 300;

// What is known of a shift before any sample. Both sides' times are brought onto the system's clock
// by CUPTI, each process by a conversion of its own that is good to about a microsecond; DRAM and
// SM counters differ by where in a launch's life they move. It settles shifts that samples leave
// open, and moves one that they determine to 100 ns by half a nanosecond for each microsecond
// between.
constexpr double kExpectedShiftNs = -1000;
constexpr double kExpectedDeviationNs = 1500;
// A look that leaves this much more unexplained than the one before may stand at a wrong shift.
constexpr double kLostFactor = 1.5;
// Of a group's shift, where only another group's is determined.
constexpr double kBorrowedDeviationNs = 1000;
constexpr double kNormal95 = 1.959964;

// Groups differ by where in a launch's life their counters move, not by their clocks.
constexpr double kMostApartNs = 2000;

// A residual that varies less than this over the whole range says nothing about the shift.
constexpr double kFlatShare = 1e-3;

struct Stretch {
  size_t first_sample = 0;
  size_t end_sample = 0;
};

Recording Cut(const Recording& recording, const Stretch& stretch) {
  Recording cut;
  cut.counters = recording.counters;
  cut.samples.assign(recording.samples.begin() + static_cast<std::ptrdiff_t>(stretch.first_sample),
                     recording.samples.begin() + static_cast<std::ptrdiff_t>(stretch.end_sample));
  cut.values.assign(recording.values.begin() +
                        static_cast<std::ptrdiff_t>(stretch.first_sample * recording.counters),
                    recording.values.begin() +
                        static_cast<std::ptrdiff_t>(stretch.end_sample * recording.counters));
  if (cut.samples.empty()) return cut;
  constexpr int64_t kReachNs = 40'000;
  for (const Launch& launch : recording.launches) {
    if (launch.start_ns < cut.samples.back().end_ns + kReachNs &&
        launch.end_ns > cut.samples.front().start_ns - kReachNs) {
      cut.launches.push_back(launch);
    }
  }
  return cut;
}

// Column of each variant in the constant-rate fit: 0 is idle, 1 all that take little time.
std::vector<uint32_t> RankVariants(const Recording& recording, size_t variants) {
  std::vector<double> times(variants, 0);
  for (const Launch& launch : recording.launches) {
    times[launch.variant] += static_cast<double>(launch.end_ns - launch.start_ns);
  }
  std::vector<size_t> order(variants);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return times[a] > times[b]; });
  std::vector<uint32_t> columns(variants, 1);
  for (size_t rank = 0; rank < std::min(order.size(), kMostVariants); ++rank) {
    columns[order[rank]] = static_cast<uint32_t>(rank + 2);
  }
  return columns;
}

double ResidualShare(const NormalEquations& equations, size_t side) {
  const double total = equations.square_sum(side);
  if (total <= 0) return 0;
  Eigen::MatrixXd lower = equations.lower();
  for (Eigen::Index i = 0; i < lower.rows(); ++i) {
    lower(i, i) = lower(i, i) > 0 ? lower(i, i) * (1 + 1e-9) : 1;
  }
  const auto right = equations.right().col(static_cast<Eigen::Index>(side));
  const Eigen::VectorXd solved = lower.selfadjointView<Eigen::Lower>().llt().solve(right);
  return std::clamp(1 - solved.dot(right) / total, 0.0, 1.0);
}

// Residual by shift of a fit with one constant rate for each variant, and a constant background.
std::vector<std::vector<double>> ConstantRateResiduals(const Recording& recording, size_t variants,
                                                       const std::vector<ShiftGroup>& groups,
                                                       const std::vector<double>& shifts_ns) {
  const std::vector<uint32_t> columns = RankVariants(recording, variants);
  const size_t width = std::min(variants, kMostVariants) + 2;
  std::vector<NormalEquations> equations(shifts_ns.size(),
                                         NormalEquations(width, recording.counters));
  ColumnPlan plan(Recording{}, variants, 1);
  SampleWalker walker(recording.counters, shifts_ns, SampleWalker::Detail::kOverlaps);
  size_t cursor = 0;
  std::vector<double> overlaps_us;
  std::vector<RowPiece> row;
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    const Sample& sample = recording.samples[i];
    walker.MoveTo(sample, recording.launches, &cursor, &plan);
    const double span_us = static_cast<double>(sample.end_ns - sample.start_ns) * 1e-3;
    for (size_t shift = 0; shift < shifts_ns.size(); ++shift) {
      const Coverage& coverage = walker.coverage(shift);
      overlaps_us.assign(coverage.pieces.size() + 1, span_us);
      row.assign(1, {0, 1, &overlaps_us[0]});
      for (size_t piece = 0; piece < coverage.pieces.size(); ++piece) {
        overlaps_us[piece + 1] = coverage.pieces[piece].overlap_ns * 1e-3;
        const Launch& launch = walker.active()[coverage.pieces[piece].active].launch;
        row.push_back({columns[launch.variant], 1, &overlaps_us[piece + 1]});
      }
      equations[shift].AddRow(row, recording.Values(i), 1.0);
    }
  }
  std::vector<std::vector<double>> residuals(groups.size());
  for (size_t group = 0; group < groups.size(); ++group) {
    for (size_t shift = 0; shift < shifts_ns.size(); ++shift) {
      double sum = 0;
      for (const size_t counter : groups[group].counters) {
        sum += ResidualShare(equations[shift], counter);
      }
      residuals[group].push_back(sum);
    }
  }
  return residuals;
}

// Residual by shift of a fit with rates that vary over each launch's life.
std::vector<double> ProfileResiduals(const Recording& recording, const ColumnPlan& plan,
                                     const ShiftGroup& group,
                                     const std::vector<double>& shifts_ns) {
  std::vector<RateFit> fits(shifts_ns.size(), RateFit(plan.max_coefficients(), group.counters));
  ColumnPlan own_plan = plan;
  SampleWalker walker(recording.counters, shifts_ns, SampleWalker::Detail::kShapes);
  size_t cursor = 0;
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    walker.MoveTo(recording.samples[i], recording.launches, &cursor, &own_plan);
    for (size_t shift = 0; shift < shifts_ns.size(); ++shift) {
      fits[shift].Observe(walker.coverage(shift));
      fits[shift].Learn(walker.coverage(shift), recording.Values(i));
    }
  }
  std::vector<double> residuals;
  for (RateFit& fit : fits) {
    fit.Fit(own_plan);
    double sum = 0;
    for (size_t index = 0; index < group.counters.size(); ++index) sum += fit.ResidualShare(index);
    residuals.push_back(sum);
  }
  return residuals;
}

std::vector<double> Grid(double middle_ns, double step_ns, int steps) {
  std::vector<double> grid;
  for (int i = -steps; i <= steps; ++i) grid.push_back(middle_ns + step_ns * i);
  return grid;
}

// Where the parabola through the least value and its neighbours is least; absent at an edge, and
// where the values hardly differ.
std::optional<double> LeastAt(const std::vector<double>& grid, const std::vector<double>& values) {
  const auto least = std::min_element(values.begin(), values.end());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto at = static_cast<size_t>(least - values.begin());
  if (*high - *low <= kFlatShare * *high || at == 0 || at + 1 == values.size()) {
    return std::nullopt;
  }
  const double left = values[at - 1] - values[at];
  const double right = values[at + 1] - values[at];
  const double step = grid[at + 1] - grid[at];
  const double bend = left + right;
  return bend > 0 ? grid[at] + 0.5 * step * (left - right) / bend : grid[at];
}

// Half of the 95 % interval of the parts' mean, by Student's t.
double Spread95(const std::vector<double>& parts) {
  if (parts.size() < 2) return kNormal95 * kExpectedDeviationNs;
  constexpr std::array<double, kParts> kStudent = {0, 12.706, 4.303, 3.182};
  const double count = static_cast<double>(parts.size());
  const double mean = std::accumulate(parts.begin(), parts.end(), 0.0) / count;
  double squares = 0;
  for (const double part : parts) squares += (part - mean) * (part - mean);
  return kStudent[parts.size() - 1] * std::sqrt(squares / (count - 1) / count);
}

struct Weighed {
  double value_ns = 0;
  double deviation_ns = 0;
};

// Two independent opinions, each by its certainty.
Weighed Weigh(const Weighed& a, const Weighed& b) {
  const double weight_a = 1 / std::max(1.0, a.deviation_ns * a.deviation_ns);
  const double weight_b = 1 / std::max(1.0, b.deviation_ns * b.deviation_ns);
  return {(weight_a * a.value_ns + weight_b * b.value_ns) / (weight_a + weight_b),
          1 / std::sqrt(weight_a + weight_b)};
}

// The least residual of a recording's parts, and how far they disagree.
double PartsSpread95(const Recording& recording, size_t samples, size_t variants,
                     const ShiftGroup& group, const std::vector<double>& grid) {
  std::vector<double> parts;
  for (size_t part = 0; part < kParts; ++part) {
    const Recording cut = Cut(recording, {samples * part / kParts, samples * (part + 1) / kParts});
    const auto residuals = ConstantRateResiduals(cut, variants, {group}, grid);
    if (const auto least = LeastAt(grid, residuals[0])) parts.push_back(*least);
  }
  return Spread95(parts);
}

// Constant rates are wrong for kernels that work unevenly, and where a load repeats, a far shift
// may suit them better than the true one. Rates that vary over a life suit the true one best.
bool FitsBetterFarAway(const Recording& recording, const ColumnPlan& plan, const ShiftGroup& group,
                       std::optional<double> near_ns, double far_ns) {
  const std::vector<double> fits =
      ProfileResiduals(recording, plan, group, {near_ns.value_or(kExpectedShiftNs), far_ns});
  return fits[1] < (near_ns ? kFarAdvantage : kFarAdvantageOverNone) * fits[0];
}

ShiftEstimate Unknown(const ShiftGroup& group) {
  return {group.name, std::nullopt, kNormal95 * kExpectedDeviationNs, kExpectedShiftNs, 0};
}

// The shift by constant rates, if the recording determines it.
ShiftEstimate SearchGroup(const Recording& recording, const Recording& whole, size_t variants,
                          const ColumnPlan& plan, const ShiftGroup& group) {
  ShiftEstimate estimate = Unknown(group);
  std::vector<double> grid = Grid(0, kCoarseStepNs, kCoarseSteps);
  auto residuals = ConstantRateResiduals(whole, variants, {group}, grid);
  const std::vector<double> far = Grid(0, kFarStepNs, kFarSteps);
  const auto far_residuals = ConstantRateResiduals(whole, variants, {group}, far);
  const std::optional<double> far_shift = LeastAt(far, far_residuals[0]);
  const std::optional<double> near_shift = LeastAt(grid, residuals[0]);
  const double near = *std::min_element(residuals[0].begin(), residuals[0].end());
  // The near edge of a far minimum is no rival of it.
  if (far_shift &&
      (!near_shift || *std::min_element(far_residuals[0].begin(), far_residuals[0].end()) <
                          kFarAdvantage * near) &&
      FitsBetterFarAway(whole, plan, group, near_shift, *far_shift)) {
    grid = Grid(*far_shift, kCoarseStepNs, kCoarseSteps);
    residuals = ConstantRateResiduals(whole, variants, {group}, grid);
  }
  const std::optional<double> shift = LeastAt(grid, residuals[0]);
  if (!shift) return estimate;
  estimate.residual_share = *std::min_element(residuals[0].begin(), residuals[0].end());
  estimate.uncertainty_ns = PartsSpread95(recording, whole.samples.size(), variants, group, grid);
  const Weighed weighed = Weigh({*shift, estimate.uncertainty_ns / kNormal95},
                                {kExpectedShiftNs, kExpectedDeviationNs});
  estimate.profile_shift_ns = weighed.value_ns;
  if (estimate.uncertainty_ns <= kGreatestUncertaintyNs) estimate.shift_ns = weighed.value_ns;
  estimate.uncertainty_ns = kNormal95 * weighed.deviation_ns;
  return estimate;
}

// All counters are stamped by one clock: a group whose shift is not determined uses that of the
// group which knows it best, and so does one that strays too far from it.
void BorrowShifts(std::vector<ShiftEstimate>* estimates) {
  const ShiftEstimate* best = nullptr;
  for (const ShiftEstimate& estimate : *estimates) {
    if (!estimate.shift_ns) continue;
    if (best == nullptr || estimate.uncertainty_ns < best->uncertainty_ns) best = &estimate;
  }
  if (best == nullptr) return;
  const ShiftEstimate lender = *best;
  for (ShiftEstimate& estimate : *estimates) {
    const bool strays =
        estimate.shift_ns && std::abs(*estimate.shift_ns - *lender.shift_ns) > kMostApartNs;
    if (estimate.shift_ns && !strays) continue;
    const double lent_ns = std::hypot(lender.uncertainty_ns / kNormal95, kBorrowedDeviationNs);
    // What stray samples say is no second opinion.
    const Weighed weighed =
        strays ? Weighed{lender.profile_shift_ns, lent_ns}
               : Weigh({lender.profile_shift_ns, lent_ns},
                       {estimate.profile_shift_ns, estimate.uncertainty_ns / kNormal95});
    estimate.shift_ns.reset();
    estimate.profile_shift_ns = weighed.value_ns;
    estimate.uncertainty_ns = kNormal95 * weighed.deviation_ns;
  }
}

}  // namespace

double EdgeErrorNs(const ShiftEstimate& shift) {
  return std::hypot(shift.uncertainty_ns / kNormal95, kProfileShiftStepNs / std::sqrt(12.0));
}

std::vector<ShiftEstimate> SearchShifts(const Recording& recording, size_t variants,
                                        const std::vector<ShiftGroup>& groups) {
  std::vector<ShiftEstimate> estimates;
  for (const ShiftGroup& group : groups) estimates.push_back(Unknown(group));
  const size_t samples = std::min(recording.samples.size(), kMostSamples);
  const Recording whole = Cut(recording, {0, samples});
  if (whole.launches.empty() || samples == 0) return estimates;

  const ColumnPlan plan(whole, variants, kMostCoefficients);
  for (size_t group = 0; group < groups.size(); ++group) {
    estimates[group] = SearchGroup(recording, whole, variants, plan, groups[group]);
    ShiftEstimate& estimate = estimates[group];
    if (!estimate.shift_ns) continue;
    const std::vector<double> fine = Grid(*estimate.shift_ns, kProfileShiftStepNs, kFineSteps);
    const std::vector<double> fits = ProfileResiduals(whole, plan, groups[group], fine);
    estimate.profile_shift_ns = LeastAt(fine, fits).value_or(*estimate.shift_ns);
  }
  BorrowShifts(&estimates);
  return estimates;
}

void FollowShifts(const Recording& recording, size_t variants,
                  const std::vector<ShiftGroup>& groups, std::vector<ShiftEstimate>* estimates) {
  if (recording.launches.empty() || recording.samples.empty()) return;
  const Recording part = Cut(recording, {0, std::min(recording.samples.size(), kFollowSamples)});
  bool lost = false;
  for (size_t group = 0; group < groups.size(); ++group) {
    ShiftEstimate& estimate = (*estimates)[group];
    if (!estimate.shift_ns) continue;
    const std::vector<double> grid = Grid(*estimate.shift_ns, kCoarseStepNs, kFollowSteps);
    const auto residuals = ConstantRateResiduals(part, variants, {groups[group]}, grid);
    const auto least = std::min_element(residuals[0].begin(), residuals[0].end());
    lost = lost || least == residuals[0].begin() || least + 1 == residuals[0].end() ||
           *least > kLostFactor * estimate.residual_share;
    estimate.residual_share = *least;
    const std::optional<double> least_ns = LeastAt(grid, residuals[0]);
    if (!least_ns) continue;
    const double look_ns =
        PartsSpread95(part, part.samples.size(), variants, groups[group], grid) / kNormal95;
    const Weighed moved = Weigh({*estimate.shift_ns, kDriftNs}, {*least_ns, look_ns});
    estimate.profile_shift_ns += moved.value_ns - *estimate.shift_ns;
    estimate.shift_ns = moved.value_ns;
  }
  // The clock jumped: search anew, and believe only what determines itself.
  if (lost) {
    const std::vector<ShiftEstimate> found = SearchShifts(part, variants, groups);
    for (size_t group = 0; group < groups.size(); ++group) {
      if (found[group].shift_ns) (*estimates)[group] = found[group];
    }
  }
  BorrowShifts(estimates);
}

}  // namespace utlz::attribution
