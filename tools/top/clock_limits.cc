#include "tools/top/clock_limits.h"

#include <array>

#include "collector/sampler/driver/nvml_abi.h"

namespace utlz::top {
namespace {

struct Limit {
  uint64_t bit;
  const char* name;
};

constexpr std::array kLimits = {Limit{nvml::kClocksGpuIdle, "idle"},
                                Limit{nvml::kClocksApplicationSetting, "application clocks"},
                                Limit{nvml::kClocksSoftwarePowerCap, "power cap"},
                                Limit{nvml::kClocksHardwareSlowdown, "hardware slowdown"},
                                Limit{nvml::kClocksSoftwareThermal, "temperature"},
                                Limit{nvml::kClocksHardwareThermal, "hardware temperature"},
                                Limit{nvml::kClocksPowerBrake, "power brake"}};

}  // namespace

std::vector<std::string> ClockLimitNames(uint64_t reasons) {
  std::vector<std::string> names;
  for (const Limit& limit : kLimits) {
    if ((reasons & limit.bit) != 0) names.emplace_back(limit.name);
    reasons &= ~limit.bit;
  }
  if (reasons != 0) names.emplace_back("other");
  return names;
}

}  // namespace utlz::top
