#include "collector/analysis/power_in_steps.h"

#include <algorithm>

namespace utlz {

// Readings come a few times a second, so that those of a short pause are partly of the work beside
// it. The middle of the pause that drew least tells what an idle GPU draws.
std::optional<double> PowerInSteps(const DeviceState& device, const StepsSpan& steps) {
  const std::optional<double> whole = device.totals.PowerBetween(steps.start_ns, steps.end_ns);
  if (!whole.has_value()) return std::nullopt;
  double idle = *whole;
  double pauses_ns = 0;
  for (const LongGap& gap : device.ledger.long_gaps()) {
    if (!IsPause(device, steps, gap)) continue;
    const uint64_t length_ns = gap.end_ns - gap.start_ns;
    pauses_ns += static_cast<double>(length_ns);
    const auto middle =
        device.totals.PowerBetween(gap.start_ns + length_ns / 4, gap.end_ns - length_ns / 4);
    idle = std::min(idle, middle.value_or(idle));
  }
  const auto all_ns = static_cast<double>(steps.end_ns - steps.start_ns);
  const double energy = *whole * all_ns - idle * pauses_ns;
  return all_ns > pauses_ns && energy > 0 ? energy / (all_ns - pauses_ns) : *whole;
}

}  // namespace utlz
