#include "collector/metrics/compute_share.h"

#include <algorithm>

namespace utlz {
namespace {

// Less is too short a time to speak of.
constexpr uint64_t kShortestNs = 500'000'000;
// Where counters know less of the kernels' time, they do not speak for the rest.
constexpr double kEnoughCounted = 0.5;

}  // namespace

uint64_t KernelsKnownNs(const ProcessState& process) {
  if (!process.coverage.open() || !process.status.has_flushed_until_ns()) return process.newest_ns;
  return std::max<uint64_t>(process.newest_ns, process.status.flushed_until_ns());
}

std::optional<double> ShareOfPeak(const ComputeWork& from, uint64_t from_known_ns,
                                  const ComputeWork& to, uint64_t to_known_ns) {
  if (to_known_ns < from_known_ns + kShortestNs) return std::nullopt;
  const auto time_ns = static_cast<double>(to_known_ns - from_known_ns);
  const double kernel_ns = to.kernel_ns - from.kernel_ns;
  const double counted_ns = to.counted_ns - from.counted_ns;
  if (kernel_ns <= 0) return to.counted_ns > 0 ? std::make_optional(0.0) : std::nullopt;
  if (counted_ns < kEnoughCounted * kernel_ns) return std::nullopt;
  return (to.peak_ns - from.peak_ns) * (kernel_ns / counted_ns) / time_ns;
}

std::optional<double> MfuOf(std::optional<double> step_seconds, double flops_per_step,
                            double peak_flops_per_second) {
  if (step_seconds.value_or(0) <= 0 || flops_per_step <= 0 || peak_flops_per_second <= 0) {
    return std::nullopt;
  }
  const double mfu = flops_per_step / *step_seconds / peak_flops_per_second;
  return mfu <= 1 ? std::make_optional(mfu) : std::nullopt;
}

}  // namespace utlz
