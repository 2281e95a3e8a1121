// The counters that share one time shift.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GROUPS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "collector/attribution/options.h"

namespace utlz::attribution {

struct ShiftGroup {
  std::string name;
  std::vector<size_t> counters;  // indices into Options::counters
};

std::vector<ShiftGroup> GroupCounters(const std::vector<CounterSpec>& counters);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GROUPS_H_
