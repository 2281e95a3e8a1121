// What tests of the window planner share.
#ifndef UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_
#define UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/session/device_groups.h"
#include "tests/support/nanoseconds.h"

namespace utlz {

inline constexpr uint64_t kSampling = 18 * kMillisecondNs;

inline uint64_t AnyTime(const std::string&) { return 0; }

// Of processes that have nothing to do with each other.
inline std::vector<DeviceGroup> Apart(const std::vector<std::string>& uuids) {
  std::vector<DeviceGroup> groups;
  for (const std::string& uuid : uuids) groups.push_back({{uuid}});
  return groups;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_
