#include "tools/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unsupported/Eigen/SpecialFunctions>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

constexpr size_t kFewestBatches = 4;

// Standard error of a statistic of the whole series, from that of `count` stretches.
template <typename Statistic>
double ErrorFromStretches(const std::vector<double>& series, size_t count, Statistic statistic) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    const auto first = series.begin() + static_cast<ptrdiff_t>(i * series.size() / count);
    const auto last = series.begin() + static_cast<ptrdiff_t>((i + 1) * series.size() / count);
    values.push_back(statistic(std::vector<double>(first, last)));
  }
  const double stretches = static_cast<double>(count);
  return std::sqrt(Variance(values) / stretches) * StudentQuantile(0.05, stretches - 1) / kNormal95;
}

template <typename Statistic>
std::optional<double> BatchError(const std::vector<double>& series, size_t batches,
                                 Statistic statistic) {
  if (series.size() < 2) return std::nullopt;
  size_t count = std::min({kFewestBatches, batches, series.size()});
  double largest = 0;
  do {
    largest = std::max(largest, ErrorFromStretches(series, count, statistic));
    count *= 2;
  } while (count <= batches && 2 * count <= series.size());
  return largest;
}

}  // namespace

double NormalTwoSidedProbability(double deviations) {
  return std::erfc(std::abs(deviations) / std::sqrt(2.0));
}

double StudentTwoSidedProbability(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return 0;
  const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
  return Eigen::numext::betainc(degrees_of_freedom / 2, 0.5, x);
}

double StudentQuantile(double two_sided_probability, double degrees_of_freedom) {
  double low = 0;
  double high = 1;
  while (StudentTwoSidedProbability(high, degrees_of_freedom) > two_sided_probability) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const bool beyond =
        StudentTwoSidedProbability(middle, degrees_of_freedom) > two_sided_probability;
    (beyond ? low : high) = middle;
  }
  return high;
}

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::optional<double> BatchMeansError(const std::vector<double>& series, size_t batches) {
  return BatchError(series, batches, Mean);
}

std::optional<double> BatchMediansError(const std::vector<double>& series, size_t batches) {
  return BatchError(series, batches,
                    [](const std::vector<double>& values) { return Median(values); });
}

}  // namespace utlz
