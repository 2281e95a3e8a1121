#include "collector/counters/counter_limits.h"

#include <limits>

#include "collector/warp_threads.h"

namespace utlz {
namespace {

constexpr double kMargin = 1.5;
// Instructions that a multiprocessor can issue in a cycle, since Volta.
constexpr double kSchedulers = 4;

// 0: not known.
double PeakPerNs(MetricRole role, const DevicePeaks& peaks) {
  const double cycles_per_ns = peaks.sm_clock_maximum_hz() * 1e-9;
  if (IsActivityRole(role)) return cycles_per_ns;
  switch (role) {
    case METRIC_SM_CYCLES_ELAPSED:
      return cycles_per_ns;
    case METRIC_DRAM_READ_BYTES:
    case METRIC_DRAM_WRITE_BYTES:
      return peaks.dram_bytes_per_second() * 1e-9;
    case METRIC_L2_BYTES:
      return peaks.l2_bytes_per_cycle() * cycles_per_ns;
    case METRIC_FMA_INSTRUCTIONS:
    case METRIC_FMA_LITE_INSTRUCTIONS:
    case METRIC_ALU_INSTRUCTIONS:
    case METRIC_XU_INSTRUCTIONS:
    case METRIC_INSTRUCTIONS:
      return kSchedulers * peaks.multiprocessors() * cycles_per_ns;
    case METRIC_THREAD_INSTRUCTIONS:
    case METRIC_ALU_THREAD_INSTRUCTIONS:
    case METRIC_XU_THREAD_INSTRUCTIONS:
      return kWarpThreads * kSchedulers * peaks.multiprocessors() * cycles_per_ns;
    default:
      return 0;
  }
}

}  // namespace

double MostPerNs(MetricRole role, const DevicePeaks& peaks) {
  const double peak = PeakPerNs(role, peaks);
  return peak > 0 ? kMargin * peak : std::numeric_limits<double>::infinity();
}

bool CanBeCounted(const CounterSet& counters, const DevicePeaks& peaks, uint64_t start_ns,
                  uint64_t end_ns, const std::vector<double>& row) {
  const auto span_ns = static_cast<double>(end_ns - start_ns);
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] > MostPerNs(counters.roles()[i], peaks) * span_ns) return false;
  }
  return true;
}

}  // namespace utlz
