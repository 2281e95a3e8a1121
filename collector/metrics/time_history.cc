#include "collector/metrics/time_history.h"

#include <algorithm>
#include <cstddef>

namespace utlz {
namespace {

constexpr TimeCause kIdleCauses[] = {TimeCause::kIdleTurnaround, TimeCause::kIdleLaunch,
                                     TimeCause::kIdleReadback, TimeCause::kIdleInput,
                                     TimeCause::kIdleOther};

// The ledger takes in an idle stretch when the next kernel ends it: the part of it before `from`
// does not belong to what came since, and the part before `to` that is still open does.
void MoveOpenIdle(const TimeSum& from, const TimeSum& to, TimeSum* growth) {
  double entered_ns = 0;
  for (const TimeCause cause : kIdleCauses) {
    entered_ns += growth->time_ns[static_cast<size_t>(cause)];
  }
  const double before_ns = std::min(from.open_idle_ns, entered_ns);
  for (const TimeCause cause : kIdleCauses) {
    double& time_ns = growth->time_ns[static_cast<size_t>(cause)];
    if (entered_ns > 0) time_ns *= 1 - before_ns / entered_ns;
  }
  const double open_ns = std::max(0.0, to.open_idle_ns - (from.open_idle_ns - before_ns));
  growth->time_ns[static_cast<size_t>(TimeCause::kIdleOther)] += open_ns;
  growth->traced_ns = std::max(0.0, growth->traced_ns - before_ns) + open_ns;
}

}  // namespace

void TimeHistory::Add(const TimeSum& sum, uint64_t now_ns) {
  now_ns_ = now_ns;
  const size_t size = sums_.size();
  if (size > 1 && sum.known_ns < sums_[size - 2].known_ns + kLeastApartNs) sums_.pop_back();
  sums_.push_back(sum);
  while (sums_.size() > 2 && sums_[1].known_ns + kLengthNs <= sum.known_ns) sums_.pop_front();
}

std::optional<TimeSum> TimeHistory::Growth() const {
  if (sums_.empty() || sums_.back().known_ns + kLengthNs < now_ns_) return std::nullopt;
  const TimeSum& to = sums_.back();
  const TimeSum from = sums_.size() > 1 ? sums_.front() : TimeSum();
  TimeSum growth = to;
  growth.busy_ns -= from.busy_ns;
  growth.traced_ns -= from.traced_ns;
  for (size_t i = 0; i < kTimeCauses; ++i) growth.time_ns[i] -= from.time_ns[i];
  MoveOpenIdle(from, to, &growth);
  growth.open_idle_ns = 0;
  return growth;
}

}  // namespace utlz
