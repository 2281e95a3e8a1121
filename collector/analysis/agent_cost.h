// What tracing costs the target: estimated from what each traced launch was measured to cost the
// driver, and what the agent and the sampler counted of themselves.
#ifndef UTLZ_COLLECTOR_ANALYSIS_AGENT_COST_H_
#define UTLZ_COLLECTOR_ANALYSIS_AGENT_COST_H_

#include <cstdint>
#include <optional>

#include "collector/run/run_state.h"

namespace utlz {

// Time that tracing took of the process ÷ the time that it lived: the driver's work for records,
// and the agent's thread. Nothing where the agent said nothing. A GPU-bound program hides much of
// it: an upper estimate.
std::optional<double> TracingCostShare(const ProcessState& process, uint64_t now_ns);

// The same in nanoseconds; 0 where the agent said nothing.
double TracingCostNs(const ProcessState& process);

// What records cost the driver in all, as the agents reckon it.
double RecordsCostNs(const RunState& state);

// What tracing added to the host's time for a launch that is no graph node, in the mean of those
// that the agent charged its account with; the least figure where it did not say.
double TracedLaunchCostNs(const ProcessState& process);

// The largest of all processes; 0 where no agent said that it traced.
double TracedLaunchCostNs(const RunState& state);

// What tracing added to launches of graphs in all: a launch with traced nodes returns later.
double TracedGraphsCostNs(const RunState& state);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_AGENT_COST_H_
