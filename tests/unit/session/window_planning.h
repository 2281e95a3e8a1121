// What tests of the window planner share.
#ifndef UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_
#define UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/session/device_groups.h"
#include "collector/session/window_planner.h"
#include "tests/support/nanoseconds.h"
#include "tests/unit/session/now.h"

namespace utlz {

inline constexpr uint64_t kSampling = 18 * kMillisecondNs;

inline uint64_t AnyTime(const std::string&) { return 0; }

// Of processes that have nothing to do with each other.
inline std::vector<DeviceGroup> Apart(const std::vector<std::string>& uuids) {
  std::vector<DeviceGroup> groups;
  for (const std::string& uuid : uuids) groups.push_back({{uuid}});
  return groups;
}

inline const std::string kGpu = "gpu 0";
inline const std::string kOther = "gpu 1";

class WindowPlannerTest : public ::testing::Test {
 protected:
  std::vector<DeviceWindow> Plan(uint64_t now_ns) {
    return planner_.Plan(now_ns, Apart({kGpu}), AnyTime);
  }
  WindowPlanner planner_{kNow, 7};
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SESSION_WINDOW_PLANNING_H_
