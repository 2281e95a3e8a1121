#include "collector/attribution/shift_groups.h"

#include <algorithm>

namespace utlz::attribution {

std::vector<ShiftGroup> GroupCounters(const std::vector<CounterSpec>& counters) {
  std::vector<ShiftGroup> groups;
  for (size_t counter = 0; counter < counters.size(); ++counter) {
    const std::string& name = counters[counter].shift_group;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const ShiftGroup& known) { return known.name == name; });
    if (group == groups.end()) {
      groups.push_back({name, {}});
      group = groups.end() - 1;
    }
    group->counters.push_back(counter);
  }
  return groups;
}

}  // namespace utlz::attribution
