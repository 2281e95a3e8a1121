#include "tools/report/shown_names.h"

#include <map>

#include "collector/text/number_text.h"

namespace utlz {

const char* ShownBound(Bound bound) {
  switch (bound) {
    case BOUND_COMPUTE:
      return "compute";
    case BOUND_MEMORY:
      return "memory";
    case BOUND_LATENCY:
      return "latency";
    case BOUND_COMMUNICATION:
      return "communication";
    case BOUND_NEITHER:
      return "mixed";
    default:
      return kUnknown;
  }
}

const char* ShortBound(Bound bound) {
  return bound == BOUND_COMMUNICATION ? "comm" : ShownBound(bound);
}

// Names of collector/summary/waterfall.h; ShownNamesTest holds them to these.
std::string ShownSlice(const std::string& name) {
  static const auto* const kShown = new std::map<std::string, std::string>{
      {"idle: from kernel to kernel", "idle: gaps < 2 µs"},
      {"idle: launch-bound", "idle: gaps 2–100 µs, launch-bound"},
      {"idle: other", "idle: gaps > 100 µs, no copy explains"},
      {"latency-bound kernels, low occupancy", "kernels below 25 % of both roofs"},
      {"kernels bound by neither", "mixed kernels (25–50 % of a roof)"},
  };
  const auto found = kShown->find(name);
  return found == kShown->end() ? name : found->second;
}

}  // namespace utlz
