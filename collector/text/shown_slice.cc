#include "collector/text/shown_slice.h"

#include <map>

#include "collector/waterfall_slices.h"

namespace utlz {

std::string ShownSlice(const std::string& name) {
  static const auto* const kShown = new std::map<std::string, std::string>{
      {kSliceIdleTurnaround, "idle: gaps < 2 µs"},
      {kSliceIdleLaunch, "idle: gaps 2–100 µs, launch-bound"},
      {kSliceIdleOther, "idle: gaps > 100 µs, no copy explains"},
      {kSliceLatency, "kernels below 25 % of both roofs"},
      {kSliceMixed, "mixed kernels (25–50 % of a roof)"},
  };
  const auto found = kShown->find(name);
  return found == kShown->end() ? name : found->second;
}

}  // namespace utlz
