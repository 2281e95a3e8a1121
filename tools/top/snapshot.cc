#include "tools/top/snapshot.h"

namespace utlz::top {
namespace {

constexpr double kYearSeconds = 365.0 * 24 * 3600;

}  // namespace

const char* NameOf(ComputeSource source) {
  switch (source) {
    case ComputeSource::kGpm:
      return "GPM";
    case ComputeSource::kSampler:
      return "PM";
    case ComputeSource::kNvml:
      break;
  }
  return "NVML";
}

std::optional<double> EfficiencyScorePercent(const GpuSnapshot& gpu) {
  if (!gpu.sm_active_percent || !gpu.gpu_util_percent || *gpu.gpu_util_percent <= 0) {
    return std::nullopt;
  }
  return 100 * *gpu.sm_active_percent / *gpu.gpu_util_percent;
}

std::optional<double> SecondsUntilFull(const GpuSnapshot& gpu) {
  if (!gpu.memory_used_bytes || !gpu.memory_total_bytes ||
      gpu.memory_change_bytes_per_second.value_or(0) <= 0 ||
      *gpu.memory_used_bytes > *gpu.memory_total_bytes) {
    return std::nullopt;
  }
  const double seconds = static_cast<double>(*gpu.memory_total_bytes - *gpu.memory_used_bytes) /
                         *gpu.memory_change_bytes_per_second;
  return seconds <= kYearSeconds ? std::make_optional(seconds) : std::nullopt;
}

RunOfProcess FindRun(const Snapshot& snapshot, pid_t pid) {
  for (const LiveSnapshot& run : snapshot.runs) {
    for (const LiveProcess& process : run.processes()) {
      if (process.pid() == static_cast<uint64_t>(pid)) return {&run, &process};
    }
  }
  return {};
}

}  // namespace utlz::top
