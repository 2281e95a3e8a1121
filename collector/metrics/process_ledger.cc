#include "collector/metrics/process_ledger.h"

#include <algorithm>

#include "collector/analysis/agent_cost.h"

namespace utlz {
namespace {

std::array<double, kProcessCounts> TotalsOf(const ProcessState& process) {
  uint64_t dropped = process.status.launches_dropped_ring();
  if (process.end.has_value() && process.end->has_launches_dropped_ring()) {
    dropped = std::max<uint64_t>(dropped, process.end->launches_dropped_ring());
  }
  std::array<double, kProcessCounts> totals{};
  const auto set = [&totals](ProcessCount count, double value) {
    totals[static_cast<size_t>(count)] = value;
  };
  set(ProcessCount::kOperations, static_cast<double>(process.status.operations_numbered()));
  set(ProcessCount::kAgentCostNs, TracingCostNs(process));
  set(ProcessCount::kLaunchesDropped, static_cast<double>(dropped + process.launches_unplaced));
  set(ProcessCount::kLaunchesUntimed, static_cast<double>(process.launches_untimed));
  set(ProcessCount::kRecordsLost, static_cast<double>(process.status.records_dropped_cupti()));
  return totals;
}

}  // namespace

void ProcessLedger::Update(const RunState& state) {
  const uint64_t now_ns = state.NewestNs();
  for (const auto& [source, process] : state.processes.processes()) {
    if (forgotten_.contains(source)) continue;
    if (process->end.has_value() && process->LivedUntilNs(now_ns) + WorkLedger::kKeptNs < now_ns) {
      Forget(source);
      continue;
    }
    const bool own = sums_.contains(source) || sums_.size() < kMostProcesses;
    auto& sum = sums_[own ? source : WorkLedger::kOthers];
    Counts& counts = counts_[source];
    const auto totals = TotalsOf(*process);
    for (size_t i = 0; i < kProcessCounts; ++i) sum[i] += counts[i].Update(totals[i]);
  }
}

void ProcessLedger::Forget(uint32_t source) {
  forgotten_.insert(source);
  counts_.erase(source);
  sums_.erase(source);
}

}  // namespace utlz
