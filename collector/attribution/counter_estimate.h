// What one column did of one counter, with its standard error, from a model's sums.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_

#include <cstddef>

#include "collector/attribution/fit_covariance.h"
#include "collector/attribution/model.h"
#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

// Of counter `index` of a shift group, whose edges are placed to `edge_error_ns`. Without an error
// where no launch was sampled.
CounterEstimate EstimateCounter(const Model& model, const FitCovariance& covariance, size_t group,
                                size_t index, size_t column, double edge_error_ns,
                                const Options& options);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COUNTER_ESTIMATE_H_
