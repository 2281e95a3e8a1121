#include "collector/attribution/shift_residuals.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "collector/attribution/normal_equations.h"
#include "collector/attribution/rate_fit.h"
#include "collector/attribution/sample_walker.h"

namespace utlz::attribution {
namespace {

constexpr size_t kMostVariants = 96;
// Further than any shift that is looked for.
constexpr int64_t kReachNs = 40'000;

// Columns of the constant-rate fit: 0 is idle, 1 all variants that take little time.
struct RankedVariants {
  std::vector<uint32_t> columns;  // by variant
  size_t width = 0;               // how many columns there are
};

RankedVariants RankVariants(const Recording& recording, size_t variants) {
  std::vector<double> times(variants, 0);
  for (const Launch& launch : recording.launches) {
    times[launch.variant] += static_cast<double>(launch.end_ns - launch.start_ns);
  }
  std::vector<size_t> order;
  for (size_t variant = 0; variant < variants; ++variant) {
    if (times[variant] > 0) order.push_back(variant);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return times[a] > times[b]; });
  order.resize(std::min(order.size(), kMostVariants));
  RankedVariants ranked{std::vector<uint32_t>(variants, 1), order.size() + 2};
  for (size_t rank = 0; rank < order.size(); ++rank) {
    ranked.columns[order[rank]] = static_cast<uint32_t>(rank + 2);
  }
  return ranked;
}

// By right side.
std::vector<double> ResidualShares(const NormalEquations& equations) {
  Eigen::MatrixXd lower = equations.lower();
  for (Eigen::Index i = 0; i < lower.rows(); ++i) {
    lower(i, i) = lower(i, i) > 0 ? lower(i, i) * (1 + 1e-9) : 1;
  }
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(lower);
  const Eigen::MatrixXd solved = factor.solve(equations.right());
  std::vector<double> shares;
  for (size_t side = 0; side < equations.right_sides(); ++side) {
    const auto at = static_cast<Eigen::Index>(side);
    const double total = equations.square_sum(side);
    const double explained = solved.col(at).dot(equations.right().col(at));
    shares.push_back(total > 0 ? std::clamp(1 - explained / total, 0.0, 1.0) : 0);
  }
  return shares;
}

// By group, shift.
std::vector<std::vector<double>> GroupResiduals(const std::vector<NormalEquations>& equations,
                                                const std::vector<ShiftGroup>& groups) {
  std::vector<std::vector<double>> residuals(groups.size());
  for (const NormalEquations& of_shift : equations) {
    const std::vector<double> shares = ResidualShares(of_shift);
    for (size_t group = 0; group < groups.size(); ++group) {
      double sum = 0;
      for (const size_t counter : groups[group].counters) sum += shares[counter];
      residuals[group].push_back(sum);
    }
  }
  return residuals;
}

void AppendTo(const std::vector<double>& more, std::vector<double>* values) {
  values->insert(values->end(), more.begin(), more.end());
}

}  // namespace

void ShiftResiduals::Append(const ShiftResiduals& others) {
  for (size_t group = 0; group < whole.size(); ++group) {
    AppendTo(others.whole[group], &whole[group]);
    for (size_t part = 0; part < parts.size(); ++part) {
      AppendTo(others.parts[part][group], &parts[part][group]);
    }
  }
}

Recording CutSamples(const Recording& recording, size_t first, size_t end) {
  Recording cut;
  cut.counters = recording.counters;
  const auto at = [](size_t index) { return static_cast<std::ptrdiff_t>(index); };
  cut.samples.assign(recording.samples.begin() + at(first), recording.samples.begin() + at(end));
  cut.values.assign(recording.values.begin() + at(first * recording.counters),
                    recording.values.begin() + at(end * recording.counters));
  if (cut.samples.empty()) return cut;
  for (const Launch& launch : recording.launches) {
    if (launch.start_ns < cut.samples.back().end_ns + kReachNs &&
        launch.end_ns > cut.samples.front().start_ns - kReachNs) {
      cut.launches.push_back(launch);
    }
  }
  return cut;
}

Recording CutNearLaunches(const Recording& recording, size_t most) {
  Recording cut;
  cut.counters = recording.counters;
  size_t next = 0;
  int64_t busy_until_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < recording.samples.size() && cut.samples.size() < most; ++i) {
    const Sample& sample = recording.samples[i];
    for (; next < recording.launches.size() &&
           recording.launches[next].start_ns < sample.end_ns + kReachNs;
         ++next) {
      busy_until_ns = std::max(busy_until_ns, recording.launches[next].end_ns);
    }
    if (busy_until_ns <= sample.start_ns - kReachNs) continue;
    cut.samples.push_back(sample);
    const std::span<const double> values = recording.Values(i);
    cut.values.insert(cut.values.end(), values.begin(), values.end());
  }
  cut.launches.assign(recording.launches.begin(),
                      recording.launches.begin() + static_cast<std::ptrdiff_t>(next));
  return cut;
}

ShiftResiduals ConstantRateResiduals(const Recording& recording, size_t variants,
                                     const std::vector<ShiftGroup>& groups,
                                     const std::vector<double>& shifts_ns, size_t parts) {
  const RankedVariants ranked = RankVariants(recording, variants);
  std::vector<NormalEquations> whole;
  std::vector<NormalEquations> part(shifts_ns.size(),
                                    NormalEquations(ranked.width, recording.counters));
  ShiftResiduals residuals;
  ColumnPlan plan(Recording{}, variants, 1);
  SampleWalker walker(recording.counters, shifts_ns, SampleWalker::Detail::kOverlaps);
  size_t cursor = 0;
  std::vector<double> overlaps_us;
  std::vector<RowPiece> row;
  const size_t samples = recording.samples.size();
  for (size_t i = 0; i < samples; ++i) {
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
        row.push_back({ranked.columns[launch.variant], 1, &overlaps_us[piece + 1]});
      }
      part[shift].AddRow(row, recording.Values(i), 1.0);
    }
    const size_t ended = residuals.parts.size() + 1;
    if (parts <= 1 || i + 1 < std::max<size_t>(1, samples * ended / parts)) continue;
    residuals.parts.push_back(GroupResiduals(part, groups));
    if (whole.empty()) {
      whole = part;
    } else {
      for (size_t shift = 0; shift < shifts_ns.size(); ++shift) whole[shift].Add(part[shift]);
    }
    for (NormalEquations& of_shift : part) of_shift.Clear();
  }
  residuals.whole = GroupResiduals(whole.empty() ? part : whole, groups);
  return residuals;
}

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

}  // namespace utlz::attribution
