#include "tools/top/snapshot.h"

namespace utlz::top {

const char* ComputeSource(const GpuSnapshot& gpu) { return gpu.from_gpm ? "GPM" : "NVML"; }

std::optional<double> EfficiencyScorePercent(const GpuSnapshot& gpu) {
  if (!gpu.sm_active_percent || !gpu.gpu_util_percent || *gpu.gpu_util_percent <= 0) {
    return std::nullopt;
  }
  return 100 * *gpu.sm_active_percent / *gpu.gpu_util_percent;
}

}  // namespace utlz::top
