#include "collector/counters/sm_clock_under_load.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// Student's t for 95 %, of one degree of freedom less than there are stretches.
struct Stretches {
  size_t count;
  double student_95;
};
constexpr Stretches kStretches[] = {{4, 3.182446}, {8, 2.364624}, {16, 2.131450}};

// What was seen in a point of the series, or in a stretch of them.
struct Seen {
  double weighted_hz = 0;
  double work = 0;
};

// Standard error of a mean that is a quotient of sums.
double ErrorFrom(const std::vector<Seen>& points, const Stretches& stretches, double mean_hz) {
  double work = 0;
  double sum = 0;
  for (size_t i = 0; i < stretches.count; ++i) {
    Seen stretch;
    const size_t end = (i + 1) * points.size() / stretches.count;
    for (size_t point = i * points.size() / stretches.count; point < end; ++point) {
      stretch.weighted_hz += points[point].weighted_hz;
      stretch.work += points[point].work;
    }
    const double off = stretch.weighted_hz - stretch.work * mean_hz;
    work += stretch.work;
    sum += off * off;
  }
  const auto count = static_cast<double>(stretches.count);
  return std::sqrt(sum * count / (count - 1)) / work * stretches.student_95 / kNormal95;
}

}  // namespace

void SmClockUnderLoad::Add(uint64_t start_ns, uint64_t end_ns, double clock_hz, double work) {
  weighted_hz_ += clock_hz * work;
  work_ += work;
  if (end_ns <= start_ns) return;
  const double per_ns = work / static_cast<double>(end_ns - start_ns);
  weighted_series_.Add(start_ns, end_ns, clock_hz * per_ns);
  work_series_.Add(start_ns, end_ns, per_ns);
}

std::optional<double> SmClockUnderLoad::hz() const {
  if (work_ <= 0) return std::nullopt;
  return weighted_hz_ / work_;
}

std::optional<double> SmClockUnderLoad::error_hz() const {
  const std::vector<double> weighted = weighted_series_.SharesOfInterval();
  const std::vector<double> work = work_series_.SharesOfInterval();
  std::vector<Seen> points;
  Seen sum;
  for (size_t i = 0; i < work.size(); ++i) {
    if (!(work[i] > 0)) continue;
    points.push_back({weighted[i], work[i]});
    sum.weighted_hz += weighted[i];
    sum.work += work[i];
  }
  std::optional<double> largest;
  for (const Stretches& stretches : kStretches) {
    if (points.size() < stretches.count) break;
    const double error = ErrorFrom(points, stretches, sum.weighted_hz / sum.work);
    largest = std::max(largest.value_or(0), error);
  }
  return largest;
}

}  // namespace utlz
