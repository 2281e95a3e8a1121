#include "collector/summary/longest_idle.h"

#include <vector>

namespace utlz {
namespace {

// NVML tells whole percents of its own short window.
constexpr double kUnusedShare = 0.005;

constexpr uint64_t kWorthReportingNs = 100'000'000;

void Prefer(const IdleStretch& stretch, std::optional<IdleStretch>* longest) {
  if (stretch.end_ns <= stretch.start_ns) return;
  const bool longer = !longest->has_value() ||
                      stretch.end_ns - stretch.start_ns > (*longest)->end_ns - (*longest)->start_ns;
  if (longer) *longest = stretch;
}

}  // namespace

std::optional<IdleStretch> FindLongestIdle(const DeviceState& device) {
  std::optional<IdleStretch> longest;
  for (const LongGap& gap : device.ledger.long_gaps()) {
    if (gap.end_ns - gap.start_ns < kWorthReportingNs) continue;
    Prefer({.start_ns = gap.start_ns, .end_ns = gap.end_ns}, &longest);
  }
  const BoundedSeries& busy = device.totals.busy_series();
  const std::vector<double> shares = busy.Values();
  std::optional<uint64_t> since_ns;
  for (size_t i = 0; i < shares.size(); ++i) {
    const uint64_t start_ns = busy.start_ns() + i * busy.interval_ns();
    if (!(shares[i] < kUnusedShare)) {  // busy, or not known
      since_ns.reset();
      continue;
    }
    if (!since_ns.has_value()) since_ns = start_ns;
    Prefer({.start_ns = *since_ns, .end_ns = start_ns + busy.interval_ns()}, &longest);
  }
  return longest;
}

}  // namespace utlz
