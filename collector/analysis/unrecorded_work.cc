#include "collector/analysis/unrecorded_work.h"

#include <algorithm>

namespace utlz {
namespace {

// Less may lie beside its kernels because the clocks of records and samples differ by microseconds.
constexpr double kFewestSampledNs = 10e6;

}  // namespace

std::optional<double> UnrecordedWorkShare(const Attribution& attribution) {
  const auto& active = attribution.totals[METRIC_SM_CYCLES_ACTIVE];
  if (!active.has_value() || attribution.sampled_ns[METRIC_SM_CYCLES_ACTIVE] < kFewestSampledNs) {
    return std::nullopt;
  }
  const double left_out = attribution.left_out_active_cycles;
  const double outside = active->idle + active->unattributed + left_out;
  const double all = active->counted + left_out;
  if (all <= 0) return std::nullopt;
  return std::clamp(outside / all, 0.0, 1.0);
}

}  // namespace utlz
