// By how much utlz slowed a process, everything taken together: tracing and sampling, the presence
// of CUPTI between windows, the agent's start and its end. Tracing and sampling are measured by the
// program's own operations where its windows allow that (measured_cost.h). Else they are estimated
// by what they cost on other machines (proto/tracing_cost.h, docs/measurements/price.md).
#ifndef UTLZ_COLLECTOR_ANALYSIS_PROCESS_SLOWDOWN_H_
#define UTLZ_COLLECTOR_ANALYSIS_PROCESS_SLOWDOWN_H_

#include <optional>

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"

namespace utlz {

// A share of the time that the process lived, and the ± of its 95 % interval.
struct SlowdownPart {
  double share = 0;
  double error_share = 0;
};

struct ProcessSlowdown {
  bool measured = false;  // tracing and sampling
  SlowdownPart tracing;   // sampling is in it where `measured`
  SlowdownPart sampling;
  SlowdownPart presence;
  double start_and_end_share = 0;

  // Of all parts. Estimates share their causes, so their errors are added up.
  SlowdownPart InAll() const;
};

// The ± of an estimated cost of tracing, as a share of the estimate. `felt_share`: see FeltShare
// (presence_cost.h). At 0 it is 1, since a busy GPU may hide all that tracing takes of the host.
double EstimateErrorShare(double felt_share);

// Nothing where its agent said nothing.
std::optional<ProcessSlowdown> SlowdownOfProcess(const RunState& state, const Analysis& analysis,
                                                 const ProcessState& process);

// Of the process that was slowed most.
std::optional<ProcessSlowdown> LargestSlowdown(const RunState& state, const Analysis& analysis);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_PROCESS_SLOWDOWN_H_
