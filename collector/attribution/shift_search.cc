#include "collector/attribution/shift_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/shift_grid.h"
#include "collector/attribution/shift_residuals.h"
#include "collector/each_in_threads.h"
#include "collector/normal_interval.h"

namespace utlz::attribution {
namespace {

constexpr size_t kMostSamples = 24576;
// What one thread looks at in a walk over the samples.
constexpr size_t kShiftsInAWalk = 8;
constexpr double kStepNs = 500;
constexpr int kNearSteps = 8;  // to each side of zero
constexpr int kFarSteps = 16;  // of kFarStepNs
constexpr double kFarStepNs = 1000;
constexpr int kFollowSteps = 3;
constexpr size_t kParts = 4;
// A shift that parts of a recording disagree on by more is not determined.
constexpr double kGreatestUncertaintyNs = 300;
// Between two looks a shift is taken to move by so much, a standard deviation: a look that is as
// uncertain as this is accepted by half.
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

// Groups differ by where in a launch's life their counters move, not by their clocks.
constexpr double kMostApartNs = 2000;

// A residual that varies less than this over the whole range says nothing about the shift.
constexpr double kFlatShare = 1e-3;

// Where a load repeats, it looks alike at several shifts, and constant rates are wrong for kernels
// that work unevenly. A shift that leaves so much more unexplained than another is no rival of it.
constexpr double kRivalFactor = 4;
constexpr size_t kMostRivals = 4;
// Samples that leave no more than this times as much unexplained at a rival do not tell the two
// apart: what is expected does.
constexpr double kDistinguishable = 1.1;
// Rivals are judged by fits with rates that vary over a launch's life, anywhere so near each.
constexpr int kJudgeSteps = 3;  // to each side
constexpr size_t kJudgeSamples = 12'288;
constexpr size_t kJudgeCoefficients = 200;
// A shift may stray so far from where parts of the recording have it, unless a rival is nearer.
constexpr double kNearNs = 4000;

// Fine where shifts are expected, coarse further off.
std::vector<double> WideGrid() {
  std::vector<double> grid = Grid(0, kStepNs, kNearSteps);
  for (const double shift_ns : Grid(0, kFarStepNs, kFarSteps)) {
    if (std::abs(shift_ns) > kStepNs * kNearSteps) grid.push_back(shift_ns);
  }
  std::sort(grid.begin(), grid.end());
  return grid;
}

bool Flat(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low <= kFlatShare * *high;
}

// Absent at an edge, and where the values hardly differ.
std::optional<double> LeastAt(const std::vector<double>& grid, const std::vector<double>& values) {
  const auto least = std::min_element(values.begin(), values.end());
  const auto at = static_cast<size_t>(least - values.begin());
  if (Flat(values) || at == 0 || at + 1 == values.size()) return std::nullopt;
  return ParabolaLeastAt(grid, values, at);
}

struct Rival {
  double shift_ns = 0;
  // What is left unexplained there, and the more the further it is from what is expected: as
  // clocks fail rarely but then by much, with long tails.
  double blame = 0;
};

double Surprise(double shift_ns) {
  return std::hypot(1, (shift_ns - kExpectedShiftNs) / kExpectedDeviationNs);
}

// Shifts that fit better than those beside them, the best first; and what is expected, where none
// of them is near.
std::vector<Rival> FindRivals(const std::vector<double>& grid, const std::vector<double>& values) {
  std::vector<Rival> rivals;
  if (Flat(values)) return rivals;
  double least_surprise = std::numeric_limits<double>::infinity();
  for (size_t at = 1; at + 1 < values.size(); ++at) {
    if (values[at] >= values[at - 1] || values[at] > values[at + 1]) continue;
    const double shift_ns = ParabolaLeastAt(grid, values, at);
    rivals.push_back({shift_ns, values[at] * Surprise(shift_ns)});
    least_surprise = std::min(least_surprise, Surprise(shift_ns));
  }
  if (rivals.empty()) return rivals;
  if (least_surprise > Surprise(kExpectedShiftNs + kNearNs)) {
    const auto at = std::lower_bound(grid.begin(), grid.end(), kExpectedShiftNs) - grid.begin();
    rivals.push_back({kExpectedShiftNs, values[static_cast<size_t>(at)] * least_surprise});
  }
  std::sort(rivals.begin(), rivals.end(),
            [](const Rival& a, const Rival& b) { return a.blame < b.blame; });
  const auto hopeless = std::find_if(rivals.begin(), rivals.end(), [&](const Rival& rival) {
    return rival.blame > kRivalFactor * rivals.front().blame;
  });
  rivals.erase(hopeless, rivals.end());
  rivals.resize(std::min(rivals.size(), kMostRivals));
  return rivals;
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

struct Verdict {
  Rival chosen;
  bool by_samples = true;  // without what is expected too
};

// The rival that the samples speak for, by both kinds of rates: constant ones where it is, those
// that vary over a life at their best near it.
Verdict Judge(const Recording& recording, size_t variants, const ShiftGroup& group,
              std::vector<Rival> rivals) {
  if (rivals.size() == 1) return {rivals.front()};
  const Recording judged =
      CutSamples(recording, 0, std::min(recording.samples.size(), kJudgeSamples));
  const ColumnPlan plan(judged, variants, kJudgeCoefficients);
  for (Rival& rival : rivals) {
    const std::vector<double> residuals =
        ProfileResiduals(judged, plan, group, Grid(rival.shift_ns, kStepNs, kJudgeSteps));
    rival.blame *= *std::min_element(residuals.begin(), residuals.end());
  }
  Verdict verdict = {
      *std::min_element(rivals.begin(), rivals.end(),
                        [](const Rival& a, const Rival& b) { return a.blame < b.blame; })};
  const auto unexplained = [](const Rival& rival) {
    return rival.blame / Surprise(rival.shift_ns);
  };
  for (const Rival& rival : rivals) {
    if (rival.shift_ns == verdict.chosen.shift_ns) continue;
    if (unexplained(rival) < kDistinguishable * unexplained(verdict.chosen))
      verdict.by_samples = false;
  }
  return verdict;
}

// Half the way to the nearest rival.
double ReachNs(const std::vector<Rival>& rivals, const Rival& chosen) {
  double reach_ns = kNearNs;
  for (const Rival& rival : rivals) {
    const double apart_ns = std::abs(rival.shift_ns - chosen.shift_ns);
    if (apart_ns > 0) reach_ns = std::min(reach_ns, apart_ns / 2);
  }
  return std::max(reach_ns, kJudgeSteps * kStepNs);
}

ShiftEstimate Unknown(const ShiftGroup& group) {
  return {group.name, std::nullopt, kNormal95 * kExpectedDeviationNs, kExpectedShiftNs, 0};
}

// One group's residuals by shift, around where they are least.
struct Scan {
  std::vector<double> grid;
  std::vector<double> whole;
  std::vector<std::vector<double>> parts;
};

Scan Near(const std::vector<double>& grid, const ShiftResiduals& residuals, size_t group,
          double shift_ns, double reach_ns) {
  Scan scan;
  scan.parts.resize(residuals.parts.size());
  for (size_t at = 0; at < grid.size(); ++at) {
    if (std::abs(grid[at] - shift_ns) > reach_ns) continue;
    scan.grid.push_back(grid[at]);
    scan.whole.push_back(residuals.whole[group][at]);
    for (size_t part = 0; part < scan.parts.size(); ++part) {
      scan.parts[part].push_back(residuals.parts[part][group][at]);
    }
  }
  return scan;
}

// How far the parts' least residuals disagree. One whose least is at the edge disagrees by that
// much at least.
double PartsSpread95(const Scan& scan) {
  std::vector<double> least_ns;
  for (const std::vector<double>& part : scan.parts) {
    if (Flat(part)) continue;
    const auto at = static_cast<size_t>(std::min_element(part.begin(), part.end()) - part.begin());
    least_ns.push_back(LeastAt(scan.grid, part).value_or(scan.grid[at]));
  }
  return Spread95(least_ns);
}

// The shift of least residual within a scan, weighed against what is expected.
ShiftEstimate Determine(const ShiftGroup& group, const Scan& scan) {
  ShiftEstimate estimate = Unknown(group);
  const std::optional<double> least_ns = LeastAt(scan.grid, scan.whole);
  if (!least_ns) return estimate;
  estimate.residual_share = *std::min_element(scan.whole.begin(), scan.whole.end());
  const double spread_ns = PartsSpread95(scan);
  const Weighed weighed =
      Weigh({*least_ns, spread_ns / kNormal95}, {kExpectedShiftNs, kExpectedDeviationNs});
  estimate.used_shift_ns = weighed.value_ns;
  if (spread_ns <= kGreatestUncertaintyNs) estimate.shift_ns = weighed.value_ns;
  estimate.uncertainty_ns = kNormal95 * weighed.deviation_ns;
  return estimate;
}

// The same numbers whatever the number of threads.
ShiftResiduals ResidualsInThreads(const Recording& recording, size_t variants,
                                  const std::vector<ShiftGroup>& groups,
                                  const std::vector<double>& shifts_ns, unsigned threads) {
  std::vector<ShiftResiduals> walks((shifts_ns.size() + kShiftsInAWalk - 1) / kShiftsInAWalk);
  EachInThreads(walks.size(), threads, [&](size_t i) {
    const auto first = shifts_ns.begin() + static_cast<std::ptrdiff_t>(i * kShiftsInAWalk);
    const auto left = static_cast<size_t>(shifts_ns.end() - first);
    const auto end = first + static_cast<std::ptrdiff_t>(std::min(left, kShiftsInAWalk));
    walks[i] = ConstantRateResiduals(recording, variants, groups, {first, end}, kParts);
  });
  ShiftResiduals all = std::move(walks.front());
  for (size_t i = 1; i < walks.size(); ++i) all.Append(walks[i]);
  return all;
}

// How little an estimate is to be trusted: groups whose launches work unevenly look far from where
// they are, and parts of a recording agree on that.
double Uncertainty(const ShiftEstimate& estimate) {
  return EdgeErrorNs(estimate) * Surprise(*estimate.shift_ns);
}

// The group that is trusted most; those that samples alone did not settle after all others.
const ShiftEstimate* Lender(const std::vector<ShiftEstimate>& estimates,
                            const std::vector<char>& by_samples) {
  for (const bool settled : {true, false}) {
    const ShiftEstimate* best = nullptr;
    for (size_t group = 0; group < estimates.size(); ++group) {
      if (!estimates[group].shift_ns || (by_samples[group] != 0) != settled) continue;
      if (best == nullptr || Uncertainty(estimates[group]) < Uncertainty(*best))
        best = &estimates[group];
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

// All counters are stamped by one clock: a group whose shift is not determined uses that of the
// group which is trusted most, and so does one that strays too far from it.
void BorrowShifts(const std::vector<char>& by_samples, std::vector<ShiftEstimate>* estimates) {
  const ShiftEstimate* best = Lender(*estimates, by_samples);
  if (best == nullptr) return;
  const ShiftEstimate lender = *best;
  for (ShiftEstimate& estimate : *estimates) {
    const bool strays =
        estimate.shift_ns && std::abs(*estimate.shift_ns - *lender.shift_ns) > kMostApartNs;
    if (estimate.shift_ns && !strays) continue;
    const double lent_ns = std::hypot(lender.uncertainty_ns / kNormal95, kBorrowedDeviationNs);
    // What stray samples say is no second opinion.
    const Weighed weighed =
        strays ? Weighed{lender.used_shift_ns, lent_ns}
               : Weigh({lender.used_shift_ns, lent_ns},
                       {estimate.used_shift_ns, estimate.uncertainty_ns / kNormal95});
    estimate.shift_ns.reset();
    estimate.used_shift_ns = weighed.value_ns;
    estimate.uncertainty_ns = kNormal95 * weighed.deviation_ns;
  }
}

}  // namespace

double EdgeErrorNs(const ShiftEstimate& shift) {
  return std::hypot(shift.uncertainty_ns / kNormal95, kUsualEdgeErrorNs);
}

std::vector<ShiftEstimate> SearchShifts(const Recording& recording, size_t variants,
                                        const std::vector<ShiftGroup>& groups, unsigned threads) {
  std::vector<ShiftEstimate> estimates;
  estimates.reserve(groups.size());
  for (const ShiftGroup& group : groups) estimates.push_back(Unknown(group));
  const Recording whole = CutNearLaunches(recording, kMostSamples);
  if (whole.samples.empty()) return estimates;

  const std::vector<double> wide = WideGrid();
  const ShiftResiduals residuals = ResidualsInThreads(whole, variants, groups, wide, threads);
  std::vector<char> by_samples(groups.size(), 1);
  EachInThreads(groups.size(), threads, [&](size_t group) {
    const std::vector<Rival> rivals = FindRivals(wide, residuals.whole[group]);
    if (rivals.empty()) return;
    const auto [chosen, settled] = Judge(whole, variants, groups[group], rivals);
    by_samples[group] = settled ? 1 : 0;
    const double reach_ns = ReachNs(rivals, chosen);
    if (std::abs(chosen.shift_ns) < kNearNs) {
      estimates[group] =
          Determine(groups[group], Near(wide, residuals, group, chosen.shift_ns, reach_ns));
      return;
    }
    const std::vector<double> fine = Grid(chosen.shift_ns, kStepNs, kNearSteps);
    const ShiftResiduals beside =
        ConstantRateResiduals(whole, variants, {groups[group]}, fine, kParts);
    estimates[group] = Determine(groups[group], Near(fine, beside, 0, chosen.shift_ns, reach_ns));
  });
  BorrowShifts(by_samples, &estimates);
  return estimates;
}

void FollowShifts(const Recording& recording, size_t variants,
                  const std::vector<ShiftGroup>& groups, std::vector<ShiftEstimate>* estimates) {
  const Recording part = CutNearLaunches(recording, kFollowSamples);
  if (part.samples.empty()) return;
  bool lost = false;
  for (size_t group = 0; group < groups.size(); ++group) {
    ShiftEstimate& estimate = (*estimates)[group];
    if (!estimate.shift_ns) continue;
    const std::vector<double> grid = Grid(*estimate.shift_ns, kStepNs, kFollowSteps);
    const ShiftResiduals residuals =
        ConstantRateResiduals(part, variants, {groups[group]}, grid, kParts);
    const Scan scan = Near(grid, residuals, 0, *estimate.shift_ns, kNearNs);
    const auto least = std::min_element(scan.whole.begin(), scan.whole.end());
    lost = lost || least == scan.whole.begin() || least + 1 == scan.whole.end() ||
           *least > kLostFactor * estimate.residual_share;
    estimate.residual_share = *least;
    const std::optional<double> least_ns = LeastAt(grid, scan.whole);
    if (!least_ns) continue;
    const Weighed moved =
        Weigh({*estimate.shift_ns, kDriftNs}, {*least_ns, PartsSpread95(scan) / kNormal95});
    estimate.used_shift_ns += moved.value_ns - *estimate.shift_ns;
    estimate.shift_ns = moved.value_ns;
  }
  // The clock jumped: search anew, and accept only what determines itself.
  if (lost) {
    const std::vector<ShiftEstimate> found = SearchShifts(part, variants, groups, 1);
    for (size_t group = 0; group < groups.size(); ++group) {
      if (found[group].shift_ns) (*estimates)[group] = found[group];
    }
  }
  BorrowShifts(std::vector<char>(groups.size(), 1), estimates);
}

}  // namespace utlz::attribution
