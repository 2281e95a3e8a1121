#include "collector/attribution/sample_splitter.h"

#include <algorithm>

namespace utlz::attribution {
namespace {

// A shape may say zero where a launch did a little after all; this share of its mean rate keeps
// every launch a candidate for what is counted while it runs.
constexpr double kCandidateShare = 0.01;
// While something unknown may have run, a count beyond this multiple of what the known work and
// the background are expected to cause is left unattributed.
constexpr double kMostExcess = 10;
// Of a sample: less uncovered time than this is rounding of timestamps.
constexpr double kUncoveredShare = 0.02;

}  // namespace

double Expected(const RateFit& fit, size_t index, const Coverage& coverage,
                const Coverage::Piece& piece) {
  double expected = 0;
  for (uint32_t i = 0; i < piece.count; ++i) {
    expected +=
        coverage.values[piece.first_value + i] * fit.rate(index, piece.first_coefficient + i);
  }
  return expected;
}

void Split(const RateFit& fit, size_t index, const Coverage& coverage, double counted,
           SplitSample* split) {
  split->parts.clear();
  split->predicted.clear();
  double total = 0;
  double predicted = 0;
  double overlap_ns = 0;
  for (const Coverage::Piece& piece : coverage.pieces) {
    double expected = 0;
    for (uint32_t i = 0; i < piece.count; ++i) {
      expected +=
          coverage.values[piece.first_value + i] * fit.rate(index, piece.first_coefficient + i);
    }
    split->predicted.push_back(expected);
    predicted += expected;
    const double weight =
        expected + kCandidateShare * fit.mean_rate(index, piece.column) * piece.overlap_ns * 1e-3;
    split->parts.push_back(weight);
    total += weight;
    overlap_ns += piece.overlap_ns;
  }
  const double idle = fit.rate(index, ColumnPlan::kIdleCoefficient) * coverage.uncovered_ns * 1e-3;
  predicted += idle;
  total += idle;
  split->residual = counted - predicted;
  split->idle = 0;
  split->unattributed = 0;

  const bool may_hide_work =
      coverage.uncovered_ns > kUncoveredShare * (coverage.uncovered_ns + overlap_ns);
  double divided = counted;
  if (may_hide_work) divided = std::min(counted, kMostExcess * total);
  if (total > 0) {
    double given = 0;
    for (double& part : split->parts) {
      part *= divided / total;
      given += part;
    }
    split->idle = idle * (divided / total);
    // What rounding left over, so that the sum is exact.
    split->unattributed = counted - given - split->idle;
    return;
  }
  for (size_t i = 0; i < split->parts.size(); ++i) {
    split->parts[i] =
        may_hide_work || overlap_ns <= 0 ? 0 : counted * coverage.pieces[i].overlap_ns / overlap_ns;
  }
  if (may_hide_work || overlap_ns <= 0) split->unattributed = counted;
}

}  // namespace utlz::attribution
