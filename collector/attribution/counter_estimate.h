// What one column did of one counter, with its standard error, from a model's sums.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_

#include <cstddef>

#include "collector/attribution/fit_covariance.h"
#include "collector/attribution/fit_model.h"
#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

// How well a shift group's edges are placed, standard errors: by what samples say of the shift, and
// beyond that.
struct EdgeError {
  double measured_ns = 0;
  double assumed_ns = 0;
};

EdgeError EdgeErrorOf(const ShiftEstimate& shift, const Options& options);

// Of counter `index` of a shift group. Without an error where no launch was sampled.
CounterEstimate EstimateCounter(const FitModel& model, const FitCovariance& covariance,
                                size_t group, size_t index, size_t column,
                                const EdgeError& edge_error, const Options& options);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_
