#include "collector/metrics/kernel_worth.h"

#include <algorithm>

namespace utlz {
namespace {

double& Of(TimeCause cause, CauseTimes* causes) { return (*causes)[static_cast<size_t>(cause)]; }

TimeCause CauseOf(Bound bound) {
  switch (bound) {
    case BOUND_MEMORY:
      return TimeCause::kMemoryBound;
    case BOUND_LATENCY:
      return TimeCause::kLatencyBound;
    case BOUND_COMPUTE:
      return TimeCause::kComputeBound;
    case BOUND_NEITHER:
      return TimeCause::kNeitherBound;
    default:
      return TimeCause::kUncounted;
  }
}

// As the report's waterfall divides a kernel's time.
void AddCauses(const KernelRow& row, const Ceilings& ceilings, double share, CauseTimes* causes) {
  const double clock_share = ceilings.clock_maximum_hz > 0
                                 ? std::min(1.0, ceilings.clock_hz / ceilings.clock_maximum_hz)
                                 : 1.0;
  const double needed_ns = row.roofline.compute_time_ns.value_or(0);
  const double compute = row.time_ns > 0 ? std::min(1.0, needed_ns / row.time_ns) : 0;
  const double other =
      needed_ns > 0 ? std::min(1.0, row.roofline.other_compute_time_ns / needed_ns) : 0;
  Of(TimeCause::kUseful, causes) += share * compute * (1 - other) * clock_share;
  Of(TimeCause::kClock, causes) += share * compute * (1 - other) * (1 - clock_share);
  Of(TimeCause::kOtherArithmetic, causes) += share * compute * other;
  Of(CauseOf(BoundOf(row.roofline)), causes) += share * (1 - compute);
}

void AddFlops(const KernelRow& row, const Ceilings& ceilings, double share, KernelWorth* worth) {
  for (const TypedFlops& typed : row.work.flops) {
    // What other pipes executed is known as a most only.
    if (typed.by_pipe) continue;
    worth->flops[typed.data_type] += share * typed.flops;
    const auto peak = ceilings.FlopsPerSecond(typed.data_type);
    if (!peak.has_value() || *peak <= 0) continue;
    worth->peak_ns = worth->peak_ns.value_or(0) + share * typed.flops / *peak * 1e9;
  }
}

void AddBytes(const KernelRow& row, double share, KernelWorth* worth) {
  if (!row.withheld.empty()) return;
  const auto add = [share](const std::optional<CounterPerLaunch>& counter,
                           std::optional<double>* bytes) {
    if (counter.has_value()) *bytes = bytes->value_or(0) + share * counter->value;
  };
  add(row.work.read_bytes, &worth->read_bytes);
  add(row.work.write_bytes, &worth->write_bytes);
}

}  // namespace

KernelWorth UnknownWorth() {
  KernelWorth worth;
  Of(TimeCause::kUncounted, &worth.causes) = 1;
  return worth;
}

KernelWorth WorthOf(std::span<const KernelRow> rows, const Ceilings& ceilings) {
  double launches = 0;
  double time_ns = 0;
  for (const KernelRow& row : rows) {
    launches += row.launches;
    time_ns += row.time_ns;
  }
  if (launches <= 0 || time_ns <= 0) return UnknownWorth();
  KernelWorth worth;
  for (const KernelRow& row : rows) {
    const double time_share = row.time_ns / time_ns;
    AddFlops(row, ceilings, row.launches / launches, &worth);
    AddBytes(row, row.launches / launches, &worth);
    AddCauses(row, ceilings, time_share, &worth.causes);
    const auto roof_ns = RooflineTimeNs(row.roofline);
    if (!roof_ns.has_value()) continue;
    worth.counted_share += time_share;
    if (row.roofline.communication) continue;
    worth.savings_share =
        worth.savings_share.value_or(0) + std::max(0.0, row.time_ns - *roof_ns) / time_ns;
  }
  return worth;
}

}  // namespace utlz
