// What tracing and sampling cost a program, measured on an H200 (docs/measurements/overhead.md,
// docs/design/sampler.md): the agent keeps its budget by these figures, and the report falls back
// on them.
#ifndef UTLZ_PROTO_TRACING_COST_H_
#define UTLZ_PROTO_TRACING_COST_H_

#include <algorithm>
#include <cstdint>

namespace utlz {

// A GPU that idles for this share of the time, or longer, waits for the host throughout.
inline constexpr double kIdleOfHostBound = 0.3;

// The share of delays of the host that delay the program, from 0 (its GPU is always busy) to 1.
inline double FeltShare(double idle_share) {
  return std::clamp(idle_share / kIdleOfHostBound, 0.0, 1.0);
}

// Of the driver, for a launch that leaves a record. CUPTI executes 8,300 instructions for it, and
// finds the caches as the program's own work since the last launch left them. So where the host is
// what the program waits for, a launch costs about a tenth of the time between two: from 1 µs in a
// tight loop to 12 µs with empty caches (docs/measurements/price.md).
inline constexpr uint64_t kTracedLaunchNs = 1150;  // the least
inline constexpr uint64_t kMostTracedLaunchNs = 10'000;
inline constexpr double kTracedShareOfLaunch = 0.1;
// `between_ns`: time ÷ launches, where there were any.
inline uint64_t TracedLaunchNs(double felt_share, double between_ns) {
  const double share_ns = felt_share * kTracedShareOfLaunch * between_ns;
  return static_cast<uint64_t>(std::clamp(share_ns, static_cast<double>(kTracedLaunchNs),
                                          static_cast<double>(kMostTracedLaunchNs)));
}

// Of the driver, for a graph's node that leaves a record.
// 330 to 1,220 were seen, the most where the nodes are short and the host waits for each replay.
inline constexpr uint64_t kTracedGraphNodeNs = 1000;
// While CUPTI is in a process in which nodes of graphs were recorded once, the launch of a graph
// takes its thread so much longer for each node, whether it is recorded or not. 13.0.85 executes
// 3,000 instructions for it (1,770 of them from cuptiSubscribe on), 12.8 executes 1,750
// (docs/measurements/price.md). These figures reckon with six instructions a nanosecond: the
// processor did 4 with cold caches and 14 in a tight loop. A node that is recorded costs
// kTracedGraphNodeNs besides.
inline constexpr double kPresentGraphNodeNs = 500;
inline constexpr double kOlderPresentGraphNodeNs = 290;
inline constexpr uint32_t kFirstCuptiOfDearNodes = 130001;  // cuptiGetVersion of 13.0.85
// Once counters were sampled on a GPU, a node may follow the one before it sooner. In some runs it
// did so by this much, in others not at all (docs/measurements/sampling.md).
inline constexpr double kMostSampledGraphNodeSavingNs = 350;
// Of a launching call whose stack is read, on its thread (docs/measurements/launch_stacks.md).
inline constexpr uint64_t kStackOfLaunchNs = 700;
// At the least figure; HostCost (inject/tracing/host_cost.h) has what comes on top.
inline constexpr uint64_t TracingCostNs(uint64_t launches, uint64_t graph_nodes) {
  return launches * kTracedLaunchNs + graph_nodes * kTracedGraphNodeNs;
}
// What is left of a traced launch's cost for each launch that is not recorded, of a program in
// which kernels were recorded twice or more: CUPTI's hook, 4,700 to 6,600 of those instructions.
inline constexpr double kHookShareOfTracedLaunch = 0.7;
// The same once records have ended for the process after the first time, or where none ever began:
// 400 instructions.
inline constexpr double kUnhookedShareOfTracedLaunch = 0.05;
// By what a power-limited program is slowed while counters are sampled: what agents pay for each
// window, and what the report assumes for profiles of older samplers.
inline constexpr double kSamplingSlowdown = 0.01;
// By what it is slowed as long as counters are set, sampled or not (docs/measurements/sampling.md):
// what the sampler's account pays.
inline constexpr double kSetCountersSlowdown = 0.012;

}  // namespace utlz

#endif  // UTLZ_PROTO_TRACING_COST_H_
