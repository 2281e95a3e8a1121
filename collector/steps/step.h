// One step of a run: when it was, what the device did in it, and for how many others it stands.
#ifndef UTLZ_COLLECTOR_STEPS_STEP_H_
#define UTLZ_COLLECTOR_STEPS_STEP_H_

#include <cstdint>

#include "collector/timeline/activity_totals.h"

namespace utlz {

// A step this much longer than the median is slow; leading ones are warm-up.
inline constexpr double kSlowStep = 1.25;

struct Step {
  uint64_t start_ns;
  uint64_t end_ns;
  StretchContent content;
  double stall_ns = 0;               // by our own counters: no time of the step's
  const char* held_up_by = nullptr;  // what utlz did then; null: nothing
  // For how many steps it stands: itself, and its part of those near it that were not traced.
  double weight = 1;
  bool after_untraced = false;  // some of what lies between it and the step before was not traced
  double length_ns() const { return static_cast<double>(end_ns - start_ns) - stall_ns; }
  double idle_ns() const { return length_ns() - content.KernelNs() - content.CopyNs(); }
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_STEP_H_
