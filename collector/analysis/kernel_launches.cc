#include "collector/analysis/kernel_launches.h"

namespace utlz {

KernelLaunches LaunchesOf(const RunState& state, const Kernel& kernel, uint64_t now_ns) {
  KernelLaunches launches;
  const double mean_ns = kernel.durations.mean_ns();
  for (const KernelShare& share : kernel.shares) {
    const auto untimed = static_cast<double>(share.untimed);
    launches.recorded += {static_cast<double>(share.launches) + untimed,
                          static_cast<double>(share.time_ns) + untimed * mean_ns};
    const auto found = state.processes.processes().find(share.source);
    if (found == state.processes.processes().end()) continue;
    const ProcessState& process = *found->second;
    const uint64_t until_ns = process.LivedUntilNs(now_ns);
    launches.in_gaps += share.by_window.InGaps(process.windows, until_ns);
    launches.gap_variance_ns2 += share.by_window.TimeVarianceInGaps(process.windows, until_ns);
  }
  return launches;
}

std::map<uint32_t, double> LaunchesInGaps(const RunState& state, uint32_t device, uint64_t now_ns) {
  std::map<uint32_t, double> in_gaps;
  for (uint32_t i = 0; i < state.kernels.kernels().size(); ++i) {
    const Kernel& kernel = state.kernels[i];
    if (kernel.device != device) continue;
    const double launches = LaunchesOf(state, kernel, now_ns).in_gaps.launches;
    if (launches > 0) in_gaps[i] = launches;
  }
  return in_gaps;
}

}  // namespace utlz
