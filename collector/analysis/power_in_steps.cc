#include "collector/analysis/power_in_steps.h"

#include <algorithm>

namespace utlz {

std::optional<double> PowerInSteps(const DeviceState& device, const StepsSpan& steps) {
  const std::optional<double> whole = device.totals.PowerBetween(steps.start_ns, steps.end_ns);
  if (!whole.has_value()) return std::nullopt;
  auto time_ns = static_cast<double>(steps.end_ns - steps.start_ns);
  double energy = *whole * time_ns;
  for (const LongGap& gap : device.ledger.long_gaps()) {
    if (!IsPause(device, steps, gap)) continue;
    const auto gap_ns = static_cast<double>(gap.end_ns - gap.start_ns);
    // Readings come a few times a second: a pause never drew more than the whole did.
    const double idle = device.totals.PowerBetween(gap.start_ns, gap.end_ns).value_or(*whole);
    energy -= std::min(idle, *whole) * gap_ns;
    time_ns -= gap_ns;
  }
  return time_ns > 0 && energy > 0 ? energy / time_ns : *whole;
}

}  // namespace utlz
