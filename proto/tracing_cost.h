// What tracing and sampling cost a program, measured on an H200 (docs/measurements/overhead.md,
// docs/design/sampler.md): the agent keeps its budget by these figures, and the report falls back
// on them.
#ifndef UTLZ_PROTO_TRACING_COST_H_
#define UTLZ_PROTO_TRACING_COST_H_

#include <cstdint>

namespace utlz {

// Of the driver, for a launch and for a graph's node that leave records.
inline constexpr uint64_t kTracedLaunchNs = 1150;
// 330 to 1,220 were seen, the most where the nodes are short and the host waits for each replay.
inline constexpr uint64_t kTracedGraphNodeNs = 1000;
// Of a launching call whose stack is read, on its thread (docs/measurements/launch_stacks.md).
inline constexpr uint64_t kStackOfLaunchNs = 700;
inline constexpr uint64_t TracingCostNs(uint64_t launches, uint64_t graph_nodes) {
  return launches * kTracedLaunchNs + graph_nodes * kTracedGraphNodeNs;
}
// Of the host, for each launch of a program in which kernels were recorded twice or more, also
// while none is: CUPTI's hook (docs/measurements/price.md). 600 ns of a bare launch, 1,000 of
// PyTorch's.
inline constexpr uint64_t kHookedLaunchNs = 1000;
// The same once records have ended for the process after the first time, or where none ever began.
inline constexpr uint64_t kUnhookedLaunchNs = 60;
// By what a power-limited program is slowed while counters are sampled.
inline constexpr double kSamplingSlowdown = 0.01;

}  // namespace utlz

#endif  // UTLZ_PROTO_TRACING_COST_H_
