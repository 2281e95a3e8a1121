// The metrics that the fake GPU can count, by the names of GH100.
#ifndef UTLZ_TESTS_FAKES_COUNTER_METRICS_H_
#define UTLZ_TESTS_FAKES_COUNTER_METRICS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {

// The value of a metric over an interval in which `totals` were counted; nothing for a name that
// the chip does not have. `….peak_sustained` needs no totals.
std::optional<double> EvaluateMetric(std::string_view name, const Totals& totals,
                                     uint64_t duration_ns);

// Metrics that instrument instructions share no pass with hardware counters.
bool IsSoftwareMetric(std::string_view name);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_COUNTER_METRICS_H_
