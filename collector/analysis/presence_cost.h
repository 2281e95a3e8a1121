// What CUPTI's hook costs a program between trace windows: after kernels were recorded twice, every
// launch takes longer until the process ends (docs/measurements/price.md). The agent cannot measure
// it on the program itself, where it is always there. So this is kHookShareOfTracedLaunch of what a
// traced launch is reckoned to cost at the pace of the program's launches (proto/tracing_cost.h). A
// program feels it as far as its GPU waits for launches.
#ifndef UTLZ_COLLECTOR_ANALYSIS_PRESENCE_COST_H_
#define UTLZ_COLLECTOR_ANALYSIS_PRESENCE_COST_H_

#include <cstdint>
#include <optional>

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"

namespace utlz {

struct PresenceCost {
  double share = 0;        // of the time that the process lived
  double error_share = 0;  // 95 % interval, ±
  // Kernels were recorded at the start alone.
  bool records_ended = false;
  double recorded_ns = 0;  // for how long
  // What the hook would have cost afterwards, had there been windows.
  double later_windows_share = 0;
};

// The share of its time in which the process's GPU ran neither kernels nor copies; of several GPUs,
// that of the one that idles most.
double IdleShareOf(const RunState& state, const Analysis& analysis, const ProcessState& process);

// By how much figures of other machines differ from what a program pays, as a share of the figure:
// launches took 8 to 14 % of the time between two longer, a traced graph node 330 to 1,220 ns.
inline constexpr double kFigureErrorShare = 0.6;

// The process's; nothing where its agent said nothing, or traced throughout. `idle_share`: of the
// time of its GPU, without kernels and copies.
std::optional<PresenceCost> PresenceCostOf(const ProcessState& process, double idle_share,
                                           uint64_t now_ns);

// The costliest process's.
std::optional<PresenceCost> PresenceCostOf(const RunState& state, const Analysis& analysis);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_PRESENCE_COST_H_
