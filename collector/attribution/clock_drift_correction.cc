#include "collector/attribution/clock_drift_correction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "collector/attribution/shift_grid.h"
#include "collector/attribution/shift_residuals.h"
#include "collector/each_in_threads.h"

namespace utlz::attribution {
namespace {

// A stretch ends with a window, and is no longer than one: where a clock jumps within one, that
// much is lost.
constexpr int64_t kPauseNs = 3'000'000;
constexpr int64_t kLongestStretchNs = 20'000'000;
constexpr size_t kFewestSamples = 256;
constexpr size_t kFewestStretches = 3;
constexpr size_t kMostSamples = 131'072;

constexpr double kStepNs = 500;
constexpr int kSteps = 24;  // to each side of zero

// A change of a microsecond between stretches has to explain this share more of a stretch's least
// residual.
constexpr double kChangeCost = 0.2;
// Shifts that change are accepted where they leave no more than this of what the best one leaves.
constexpr double kPlausible = 0.9;

struct Stretch {
  size_t first = 0;
  size_t end = 0;
  std::vector<double> residuals;  // by shift
};

std::vector<Stretch> Split(const Recording& recording) {
  std::vector<Stretch> stretches;
  const std::vector<Sample>& samples = recording.samples;
  size_t first = 0;
  for (size_t i = 1; i <= samples.size(); ++i) {
    const bool ends = i == samples.size() ||
                      samples[i].start_ns - samples[i - 1].end_ns > kPauseNs ||
                      samples[i].end_ns - samples[first].start_ns > kLongestStretchNs;
    if (!ends) continue;
    if (i - first >= kFewestSamples) stretches.push_back({first, i, {}});
    first = i;
  }
  return stretches;
}

double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// The group whose residuals depend most on the shift.
size_t SharpestGroup(const std::vector<ShiftResiduals>& residuals, size_t groups) {
  size_t sharpest = 0;
  double most = 0;
  for (size_t group = 0; group < groups; ++group) {
    double sharpness = 0;
    for (const ShiftResiduals& of_stretch : residuals) {
      const std::vector<double>& values = of_stretch.whole[group];
      const double greatest = *std::max_element(values.begin(), values.end());
      if (greatest > 0) sharpness += 1 - Least(values) / greatest;
    }
    if (sharpness > most) {
      most = sharpness;
      sharpest = group;
    }
  }
  return sharpest;
}

// Shifts by stretch, as places in the grid, that leave little unexplained and seldom change: the
// cheapest way through, by dynamic programming.
std::vector<size_t> CheapestWay(const std::vector<Stretch>& stretches, size_t shifts) {
  std::vector<std::vector<double>> costs(stretches.size(), std::vector<double>(shifts));
  std::vector<std::vector<size_t>> came_from(stretches.size(), std::vector<size_t>(shifts, 0));
  for (size_t s = 0; s < stretches.size(); ++s) {
    const double least = std::max(1e-9, Least(stretches[s].residuals));
    for (size_t at = 0; at < shifts; ++at) {
      double before = s == 0 ? 0 : std::numeric_limits<double>::infinity();
      for (size_t from = 0; s > 0 && from < shifts; ++from) {
        const double change_us =
            std::abs(static_cast<double>(at) - static_cast<double>(from)) * kStepNs * 1e-3;
        const double cost = costs[s - 1][from] + kChangeCost * change_us;
        if (cost < before) {
          before = cost;
          came_from[s][at] = from;
        }
      }
      costs[s][at] = before + stretches[s].residuals[at] / least;
    }
  }
  std::vector<size_t> way(stretches.size());
  const std::vector<double>& last = costs.back();
  way.back() = static_cast<size_t>(std::min_element(last.begin(), last.end()) - last.begin());
  for (size_t s = way.size() - 1; s > 0; --s) way[s - 1] = came_from[s][way[s]];
  return way;
}

// No further than half a step from the place, which need not be where the residuals are least.
double ShiftAt(const std::vector<double>& grid, const std::vector<double>& residuals, size_t at) {
  return std::clamp(ParabolaLeastAt(grid, residuals, at), grid[at] - kStepNs / 2,
                    grid[at] + kStepNs / 2);
}

// What one shift leaves of all stretches, at its best, and what these leave.
bool IsPlausible(const std::vector<Stretch>& stretches, const std::vector<size_t>& way,
                 size_t shifts) {
  double of_way = 0;
  std::vector<double> of_one(shifts, 0);
  for (size_t s = 0; s < stretches.size(); ++s) {
    of_way += stretches[s].residuals[way[s]];
    for (size_t at = 0; at < shifts; ++at) of_one[at] += stretches[s].residuals[at];
  }
  return of_way < kPlausible * Least(of_one);
}

// By how much each sample is to be moved; empty where one shift serves all.
std::vector<double> MovesNs(const Recording& recording, size_t variants,
                            const std::vector<ShiftGroup>& groups, unsigned threads) {
  if (recording.samples.size() > kMostSamples || recording.launches.empty()) return {};
  std::vector<Stretch> stretches = Split(recording);
  if (stretches.size() < kFewestStretches) return {};
  const std::vector<double> grid = Grid(0, kStepNs, kSteps);
  std::vector<ShiftResiduals> residuals(stretches.size());
  EachInThreads(stretches.size(), threads, [&](size_t s) {
    const Recording cut = CutSamples(recording, stretches[s].first, stretches[s].end);
    residuals[s] = ConstantRateResiduals(cut, variants, groups, grid, 1);
  });
  const size_t group = SharpestGroup(residuals, groups.size());
  for (size_t s = 0; s < stretches.size(); ++s) {
    stretches[s].residuals = std::move(residuals[s].whole[group]);
  }
  const std::vector<size_t> way = CheapestWay(stretches, grid.size());
  if (!IsPlausible(stretches, way, grid.size())) return {};

  const double kept_ns = ShiftAt(grid, stretches.back().residuals, way.back());
  std::vector<double> moves_ns(recording.samples.size(), 0);
  size_t next = 0;
  for (size_t s = 0; s < stretches.size(); ++s) {
    const double move_ns = kept_ns - ShiftAt(grid, stretches[s].residuals, way[s]);
    const size_t end = s + 1 == stretches.size() ? moves_ns.size() : stretches[s].end;
    for (; next < end; ++next) moves_ns[next] = move_ns;
  }
  return moves_ns;
}

}  // namespace

std::optional<Recording> WithoutClockDrift(const Recording& recording, size_t variants,
                                           const std::vector<ShiftGroup>& groups,
                                           unsigned threads) {
  const std::vector<double> moves_ns = MovesNs(recording, variants, groups, threads);
  if (moves_ns.empty()) return std::nullopt;
  Recording moved = recording;
  int64_t free_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < moves_ns.size(); ++i) {
    Sample& sample = moved.samples[i];
    const int64_t move_ns = std::llround(moves_ns[i]);
    // Stretches that follow each other at once must not overlap.
    sample.start_ns = std::max(free_ns, sample.start_ns + move_ns);
    sample.end_ns = std::max(sample.start_ns + 1, sample.end_ns + move_ns);
    free_ns = sample.end_ns;
  }
  return moved;
}

}  // namespace utlz::attribution
