// The little statistics that a comparison needs. Pure functions, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_STATISTICS_H_
#define UTLZ_TOOLS_COMPARE_STATISTICS_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace utlz {

// Chance of a normal variable at least `deviations` standard deviations from its mean.
double NormalTwoSidedProbability(double deviations);

// The same for Student's t: I_x(ν/2, 1/2) with x = ν ÷ (ν + t²). Degrees of freedom may be broken
// numbers, as Welch's test makes them.
double StudentTwoSidedProbability(double t, double degrees_of_freedom);

// The t that a Student's variable lies beyond, on either side, with this chance (above zero).
double StudentQuantile(double two_sided_probability, double degrees_of_freedom);

double Mean(const std::vector<double>& values);
// Unbiased; zero for fewer than two values.
double Variance(const std::vector<double>& values);

// Standard error of the mean of a series whose neighbours may be alike (steps of a run slow down
// and recover together): from the means of 4, 8 and 16 stretches of equal length, but at most
// `batches`. Values that are alike for long make long stretches differ by more than short ones
// promise, so the largest counts; and each by so much more that ± 1.96 of it holds the mean in 95
// %, as Student's t has it for so few stretches. Absent for fewer than two values.
std::optional<double> BatchMeansError(const std::vector<double>& series, size_t batches = 16);

// Zero for none.
double Median(std::vector<double> values);
// The same as above for the median, from the medians of the stretches: a few outliers do not blur
// it.
std::optional<double> BatchMediansError(const std::vector<double>& series, size_t batches = 16);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_STATISTICS_H_
