#include "collector/metrics/kernel_worth.h"

#include <algorithm>
#include <vector>

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

struct KernelTotals {
  double launches = 0;
  double time_ns = 0;
};

// An impossible figure was removed, and is not known.
bool FlopsAreKnown(const KernelRow& row, bool matrix) {
  return !row.work.flops.empty() || (!matrix && row.work.tensor_active_cycles.has_value());
}

bool BytesAreKnown(const KernelRow& row) {
  return row.work.read_bytes.has_value() || row.work.write_bytes.has_value();
}

// Assumed: a turn of another program is no shorter, so that launches which are longer by less are
// another kind of work.
constexpr double kShortestTurnNs = 200e3;

double MeanNs(const KernelRow& row) { return row.launches > 0 ? row.time_ns / row.launches : 0; }

// A row that speaks for this share of a kernel's launches and of their time.
struct Speaker {
  const KernelRow* row;
  double launches_share;
  double time_share;
};

// Those of the rows that are known. On a shared GPU the shortest of them speaks for launches that
// may have been interrupted.
template <typename IsKnown>
std::vector<Speaker> SpeakersOf(std::span<const KernelRow> rows, const KernelTotals& whole,
                                bool shared, IsKnown is_known) {
  std::vector<Speaker> speakers;
  for (const KernelRow& row : rows) {
    const Speaker speaker{&row, row.launches / whole.launches, row.time_ns / whole.time_ns};
    const bool interrupted = shared && !speakers.empty() &&
                             MeanNs(row) >= MeanNs(*speakers.front().row) + kShortestTurnNs;
    if (interrupted) {
      speakers.front().launches_share += speaker.launches_share;
      speakers.front().time_share += speaker.time_share;
    } else if (is_known(row)) {
      speakers.push_back(speaker);
    }
  }
  return speakers;
}

void AddFlops(const Speaker& speaker, const Ceilings& ceilings, KernelWorth* worth) {
  worth->flops_share += speaker.time_share;
  for (const TypedFlops& typed : speaker.row->work.flops) {
    // What other pipes executed is known as a most only.
    if (typed.by_pipe) continue;
    const double flops = speaker.launches_share * typed.flops;
    worth->flops[typed.data_type] += flops;
    const auto peak = ceilings.FlopsPerSecond(typed.data_type);
    if (!peak.has_value() || *peak <= 0) continue;
    worth->peak_ns = worth->peak_ns.value_or(0) + flops / *peak * 1e9;
  }
}

void AddBytes(const Speaker& speaker, KernelWorth* worth) {
  worth->bytes_share += speaker.time_share;
  const auto add = [&speaker](const std::optional<CounterPerLaunch>& counter,
                              std::optional<double>* bytes) {
    if (counter.has_value()) {
      *bytes = bytes->value_or(0) + speaker.launches_share * counter->value;
    }
  };
  add(speaker.row->work.read_bytes, &worth->read_bytes);
  add(speaker.row->work.write_bytes, &worth->write_bytes);
}

}  // namespace

KernelWorth UnknownWorth() {
  KernelWorth worth;
  Of(TimeCause::kUncounted, &worth.causes) = 1;
  return worth;
}

KernelWorth WorthOf(std::span<const KernelRow> rows, const Ceilings& ceilings,
                    const WorthFacts& facts) {
  KernelTotals whole;
  for (const KernelRow& row : rows) {
    whole.launches += row.launches;
    whole.time_ns += row.time_ns;
  }
  if (whole.launches <= 0 || whole.time_ns <= 0) return UnknownWorth();
  KernelWorth worth;
  const auto flops_are_known = [&](const KernelRow& row) {
    return FlopsAreKnown(row, facts.matrix);
  };
  for (const Speaker& speaker : SpeakersOf(rows, whole, facts.shared, flops_are_known)) {
    AddFlops(speaker, ceilings, &worth);
  }
  for (const Speaker& speaker : SpeakersOf(rows, whole, facts.shared, BytesAreKnown)) {
    AddBytes(speaker, &worth);
  }
  for (const KernelRow& row : rows) {
    const double time_share = row.time_ns / whole.time_ns;
    AddCauses(row, ceilings, time_share, &worth.causes);
    const auto roof_ns = RooflineTimeNs(row.roofline);
    if (!roof_ns.has_value() || row.roofline.communication) continue;
    worth.savings_share =
        worth.savings_share.value_or(0) + std::max(0.0, row.time_ns - *roof_ns) / whole.time_ns;
  }
  return worth;
}

}  // namespace utlz
