#include "collector/analysis/counters_cost.h"

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

// Two measurements of one load differ by an eighth; what other loads pay was not measured.
constexpr double kErrorOfAccount = 0.5;

}  // namespace

CountersCost CountersCostOf(const DeviceState& device) {
  if (device.status.has_value() && device.status->has_set_counters_cost_ns()) {
    const auto cost_ns = static_cast<double>(device.status->set_counters_cost_ns());
    return {.ns = cost_ns, .error_ns = kErrorOfAccount * cost_ns, .is_accounted = true};
  }
  const double cost_ns = kSamplingSlowdown * static_cast<double>(SampledNs(device));
  return {.ns = cost_ns, .error_ns = cost_ns, .is_accounted = false};
}

}  // namespace utlz
