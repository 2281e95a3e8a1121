// The part of a run that findings, shares and the waterfall speak of. Where steps are known it is
// the time from the first one after the warm-up to the end of the last: what came before is
// start-up, and long idle stretches between steps are pauses. Else it is all of the run.
#ifndef UTLZ_COLLECTOR_ANALYSIS_STEADY_PART_H_
#define UTLZ_COLLECTOR_ANALYSIS_STEADY_PART_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analysis/weighed_time.h"
#include "collector/run/run_state.h"

namespace utlz {

// A part of a step in which utlz itself held the GPU up for `time_ns`.
struct HoldUp {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  double time_ns = 0;
};

// Steps that were traced one after the other, and stand for equally many of the run; or a stretch of
// steps that were traced in part.
struct TracedSteps {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  double steps = 0;         // how many they are; of those traced in part, how many were traced
  double weight = 1;        // for how many each of them stands
  double traced_share = 1;  // of the time from start to end; of steps that were traced whole, all
};

// From the start of the first step after the warm-up to the end of the last one.
struct StepsSpan {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  double usual_step_ns = 0;              // median
  double pause_per_step_ns = 0;          // of pauses in steps, mean
  std::vector<HoldUp> hold_ups = {};     // while utlz set counters; those of ranges are pauses
  std::vector<TracedSteps> traced = {};  // in order
  // Time of the steps that were counted, not traced, after the last traced one: their number times
  // the mean step; 0 where none were counted.
  double after_ns = 0;
  // What CUPTI gave numbers to after the last traced step; absent where they were not counted.
  std::optional<double> operations_after = std::nullopt;
  uint32_t device = 0;  // index into DeviceTable: whose kernels made the steps
  // By which the traced steps are longer than all of them; absent where nothing tells.
  std::optional<double> slowdown_share = std::nullopt;
  double slowdown_standard_error = 0;
};

// Whether a gap is no time of the steps: an idle stretch of ten of them that waits for no input, or
// one in which our own counters held the program up.
bool IsPause(const DeviceState& device, const StepsSpan& steps, const LongGap& gap);

// How long the steps after the last traced one went on untraced: the run's steps end so much later
// than its traced ones. 0 where they were not counted.
double UntracedTimeOfLaterSteps(const ActivityTotals& ledger, const StepsSpan& steps);

// What one device did in the steady part.
struct DevicePart {
  // Pauses left out. As long as what was traced, and divided as all steps are: a step counts as
  // often as it stands for others (WeighedTime).
  StretchContent content;
  // What `content` is the sum over.
  WeighedTime time;
  // How often each moment in which nothing ran is in `content`: in pauses never, and where utlz
  // held the program up less often. What tracing took of all gaps alike is not taken off here.
  WeighedTime gap_time;
  double pause_ns = 0;
  double pauses = 0;    // how many
  double stall_ns = 0;  // by utlz, in StepsSpan.hold_ups; taken out of the gaps in content
  double untraced_before_ns = 0;  // of what comes before it
  double untraced_after_ns = 0;
  double kernel_share = 1;   // of the device's kernel time in the whole run, as it was traced
  double kernel_weight = 1;  // kernel time in `content` ÷ what was traced of it
  double kernel_scale = 1;   // kernel time of all steps, traced or not ÷ what was traced of it
  // For which tracing itself held the program up, as measured; taken out of the gaps in content.
  double slowdown_ns = 0;
  double slowdown_error_ns = 0;

  // Traced time, less pauses and what tracing itself took: what shares are shares of.
  double TimeNs() const;
};

struct SteadyPart {
  std::optional<StepsSpan> steps;  // nothing: the steady part is all of the run

  // `index`: the device's, into DeviceTable.
  DevicePart Of(const DeviceState& device, uint32_t index) const;
};

// The steps' span if most of the kernel time lies in it. A loop that does less is not what the run
// is about.
SteadyPart FindSteadyPart(const RunState& state, const std::optional<StepsSpan>& steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_STEADY_PART_H_
