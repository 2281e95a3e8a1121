#include "collector/analysis/presence_cost.h"

#include <algorithm>

#include "collector/analysis/agent_cost.h"
#include "collector/run/untraced_time.h"
#include "proto/tracing_cost.h"

namespace utlz {
namespace {

// Older agents do not report the state of their records. After a second window the hook is in.
RecordsState StateOf(const ProcessState& process) {
  if (process.status.has_records_state()) return process.status.records_state();
  return process.windows.size() > 1 ? RECORDS_IN_WINDOWS : RECORDS_FROM_START;
}

}  // namespace

double IdleShareOf(const RunState& state, const Analysis& analysis, const ProcessState& process) {
  double idle_share = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!Uses(process, i)) continue;
    const DevicePart& part = analysis.devices[i].part;
    const double time_ns = part.TimeNs();
    if (time_ns <= 0) continue;
    const double busy_ns = part.content.KernelNs() + part.content.CopyNs();
    idle_share = std::max(idle_share, 1 - busy_ns / time_ns);
  }
  return idle_share;
}

std::optional<PresenceCost> PresenceCostOf(const ProcessState& process, double idle_share,
                                           uint64_t now_ns) {
  const uint64_t end_ns = process.LivedUntilNs(now_ns);
  const uint64_t start_ns = process.info.start_time_ns();
  const RecordsState state = StateOf(process);
  const bool reported = process.has_status && end_ns > start_ns;
  if (!reported || (state != RECORDS_IN_WINDOWS && state != RECORDS_ENDED)) return std::nullopt;
  const auto lived_ns = static_cast<double>(end_ns - start_ns);
  const AgentStatus& status = process.status;
  const double felt = FeltShare(idle_share);
  PresenceCost cost;
  cost.records_ended = state == RECORDS_ENDED;
  cost.recorded_ns = static_cast<double>(process.coverage.TracedNs(end_ns));
  const double rest_ns = std::max(0.0, lived_ns - cost.recorded_ns);
  // While it was recorded the agent's account has the whole price of a launch.
  if (cost.records_ended) {
    const double rate = cost.recorded_ns > 0
                            ? static_cast<double>(status.operations_recorded()) / cost.recorded_ns
                            : 0;
    const double traced_share = felt * rate * TracedLaunchCostNs(process);
    cost.later_windows_share = kHookShareOfTracedLaunch * traced_share;
    cost.share = kUnhookedShareOfTracedLaunch * traced_share * rest_ns / lived_ns;
  } else if (const auto in_gaps = static_cast<double>(status.operations_in_gaps()); in_gaps > 0) {
    const auto traced_ns = static_cast<double>(TracedLaunchNs(felt, rest_ns / in_gaps));
    cost.share = felt * kHookShareOfTracedLaunch * in_gaps * traced_ns / lived_ns;
  }
  cost.error_share = kFigureErrorShare * cost.share;
  return cost;
}

std::optional<PresenceCost> PresenceCostOf(const RunState& state, const Analysis& analysis) {
  std::optional<PresenceCost> most;
  for (const auto& [source, process] : state.processes.processes()) {
    const auto cost =
        PresenceCostOf(*process, IdleShareOf(state, analysis, *process), state.NewestNs());
    if (!cost.has_value()) continue;
    if (!most.has_value() || cost->share > most->share) most = cost;
  }
  return most;
}

}  // namespace utlz
