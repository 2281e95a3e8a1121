#include "collector/metrics/time_cause.h"

namespace utlz {

const char* NameOf(TimeCause cause) {
  constexpr std::array<const char*, kTimeCauses> kNames = {
      "useful",        "clock_below_maximum", "other_arithmetic",
      "memory_bound",  "latency_bound",       "compute_bound",
      "neither_bound", "uncounted",           "communication",
      "copies",        "idle_turnaround",     "idle_launch",
      "idle_readback", "idle_input",          "idle_other",
      "untraced"};
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace utlz
