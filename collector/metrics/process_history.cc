#include "collector/metrics/process_history.h"

#include <algorithm>

#include "collector/metrics/compute_share.h"

namespace utlz {
namespace {

std::map<uint32_t, ComputeWork> WorkBySource(const WorkLedger& work) {
  std::map<uint32_t, ComputeWork> by_source;
  for (const auto& [pair, sum] : work.sums()) {
    ComputeWork& all = by_source[pair.second];
    all.kernel_ns += sum.compute.kernel_ns;
    all.counted_ns += sum.compute.counted_ns;
    all.peak_ns += sum.compute.peak_ns;
  }
  return by_source;
}

}  // namespace

ProcessHistory::Point ProcessHistory::PointOf(const RunState& run_state,
                                              const ProcessState& process,
                                              const std::map<uint32_t, ComputeWork>& work) {
  const auto found = work.find(process.source);
  return {.time_ns = run_state.NewestNs(),
          .known_ns = KernelsKnownNs(process),
          .devices = static_cast<double>(process.recorded_until_ns.size()),
          .work = found == work.end() ? ComputeWork() : found->second};
}

void ProcessHistory::Update(const RunState& run_state, const WorkLedger& work) {
  const std::map<uint32_t, ComputeWork> by_source = WorkBySource(work);
  for (const auto& [source, process] : run_state.processes.processes()) {
    if (!process->live()) {
      points_.erase(source);
      continue;
    }
    if (process->recorded_until_ns.empty()) continue;
    if (!points_.contains(source) && points_.size() >= kMostProcesses) continue;
    std::deque<Point>& points = points_[source];
    points.push_back(PointOf(run_state, *process, by_source));
    while (points.size() > 2 && points[1].time_ns + kLengthNs <= points.back().time_ns) {
      points.pop_front();
    }
  }
}

std::optional<double> ProcessHistory::Hfu(uint32_t source) const {
  const auto found = points_.find(source);
  if (found == points_.end()) return std::nullopt;
  const Point& from = found->second.front();
  const Point& to = found->second.back();
  const auto hfu = ShareOfPeak(from.work, from.known_ns, to.work, to.known_ns);
  if (!hfu.has_value() || to.devices <= 0) return std::nullopt;
  return std::clamp(*hfu / to.devices, 0.0, 1.0);
}

}  // namespace utlz
