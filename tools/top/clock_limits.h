// Why a GPU's clock is below its highest, in words.
#ifndef UTLZ_TOOLS_TOP_CLOCK_LIMITS_H_
#define UTLZ_TOOLS_TOP_CLOCK_LIMITS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace utlz::top {

// "idle", "power cap" and so on, for NVML's bits; "other" for bits without a name here. Empty where
// nothing limits the clock.
std::vector<std::string> ClockLimitNames(uint64_t reasons);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_CLOCK_LIMITS_H_
