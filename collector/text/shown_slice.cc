#include "collector/text/shown_slice.h"

#include <map>

namespace utlz {

// Names of collector/summary/waterfall.h; ShownSliceTest holds them to these.
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
