#include "collector/metrics/time_ledger.h"

#include <algorithm>

#include "collector/run/untraced_time.h"

namespace utlz {
namespace {

// Of every category but kCompute, whose time is divided among the causes of its kernels.
TimeCause CauseOf(TimeCategory category) {
  switch (category) {
    case TimeCategory::kTurnaroundGap:
      return TimeCause::kIdleTurnaround;
    case TimeCategory::kLaunchGap:
      return TimeCause::kIdleLaunch;
    case TimeCategory::kReadbackGap:
      return TimeCause::kIdleReadback;
    case TimeCategory::kUploadGap:
      return TimeCause::kIdleInput;
    case TimeCategory::kOtherGap:
      return TimeCause::kIdleOther;
    case TimeCategory::kCommunication:
      return TimeCause::kCommunication;
    case TimeCategory::kPageableCopy:
    case TimeCategory::kPinnedCopy:
    case TimeCategory::kOtherCopy:
      return TimeCause::kCopies;
    case TimeCategory::kUntraced:
      return TimeCause::kUntraced;
    case TimeCategory::kCompute:
      break;
  }
  return TimeCause::kUncounted;
}

void AddTime(TimeCategory category, double time_ns, const CauseTimes& shares, TimeSum* sum) {
  if (category != TimeCategory::kUntraced) sum->traced_ns += time_ns;
  if (category != TimeCategory::kUntraced && !IsGap(category)) sum->busy_ns += time_ns;
  if (category != TimeCategory::kCompute) {
    sum->time_ns[static_cast<size_t>(CauseOf(category))] += time_ns;
    return;
  }
  for (size_t i = 0; i < kTimeCauses; ++i) sum->time_ns[i] += time_ns * shares[i];
}

// Records come seconds late, and nothing is known of time in which a process does not trace.
uint64_t KnownNs(const RunState& state, uint32_t index) {
  const DeviceState& device = state.devices[index];
  uint64_t known_ns = std::min(device.released_until_ns, state.NewestNs());
  for (const auto& [source, process] : state.processes.processes()) {
    if (!process->live() || !Uses(*process, index)) continue;
    known_ns = std::min(known_ns, process->coverage.UntracedSinceNs().value_or(known_ns));
  }
  return known_ns;
}

void SetKnown(const RunState& state, uint32_t index, TimeSum* sum) {
  const uint64_t last_ns = state.devices[index].sweep.last_ns();
  if (last_ns == 0) return;
  sum->known_ns = std::max({sum->known_ns, last_ns, KnownNs(state, index)});
  sum->open_idle_ns = static_cast<double>(sum->known_ns - last_ns);
}

}  // namespace

void TimeLedger::Update(const RunState& state, const WorkLedger& work) {
  sums_.resize(state.devices.size());
  counted_.resize(state.devices.size());
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    Counted& counted = counted_[i];
    UpdateShares(i < work.devices().size() ? work.devices()[i].causes_ns : CauseTimes{}, &counted);
    const StretchContent content = state.devices[i].ledger.Between(0, UINT64_MAX);
    for (size_t c = 0; c < kTimeCategories; ++c) {
      const double growth_ns = std::max(0.0, content.time_ns[c] - counted.category_ns[c]);
      counted.category_ns[c] += growth_ns;
      AddTime(static_cast<TimeCategory>(c), growth_ns, counted.shares, &sums_[i]);
    }
    SetKnown(state, i, &sums_[i]);
  }
}

void TimeLedger::UpdateShares(const CauseTimes& causes_ns, Counted* counted) {
  CauseTimes growth_ns{};
  double all_ns = 0;
  for (size_t i = 0; i < kTimeCauses; ++i) {
    growth_ns[i] = causes_ns[i] - counted->kernel_causes_ns[i];
    all_ns += growth_ns[i];
  }
  counted->kernel_causes_ns = causes_ns;
  if (all_ns > 0) {
    for (size_t i = 0; i < kTimeCauses; ++i) counted->shares[i] = growth_ns[i] / all_ns;
  } else if (counted->shares == CauseTimes{}) {
    counted->shares[static_cast<size_t>(TimeCause::kUncounted)] = 1;
  }
}

}  // namespace utlz
