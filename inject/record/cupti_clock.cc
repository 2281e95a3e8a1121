#include "inject/record/cupti_clock.h"

namespace utlz::agent {
namespace {

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

void CuptiClock::Pair(uint64_t cupti_ticks, uint64_t realtime_ns) {
  foreign_ = Distance(cupti_ticks, realtime_ns) > kSameClockNs;
  if (!foreign_) return BeginAnew(0, 0);
  const bool jumped = ns_per_tick_ > 0 && Distance(Converted(cupti_ticks), realtime_ns) > kSecondNs;
  if (first_ns_ == 0 || jumped || cupti_ticks < latest_ticks_) {
    return BeginAnew(cupti_ticks, realtime_ns);
  }
  latest_ticks_ = cupti_ticks;
  latest_ns_ = realtime_ns;
  if (latest_ns_ < first_ns_ + kShortestNs || latest_ticks_ == first_ticks_) return;
  ns_per_tick_ = static_cast<double>(latest_ns_ - first_ns_) /
                 static_cast<double>(latest_ticks_ - first_ticks_);
}

void CuptiClock::BeginAnew(uint64_t cupti_ticks, uint64_t realtime_ns) {
  first_ticks_ = latest_ticks_ = cupti_ticks;
  first_ns_ = latest_ns_ = realtime_ns;
  ns_per_tick_ = 0;
}

// From the latest pair, both ways: the distance is short, and a double holds it to the nanosecond.
uint64_t CuptiClock::Converted(uint64_t cupti_ticks) const {
  if (cupti_ticks == 0) return 0;
  // The other client's clock came in the middle of a buffer.
  if (Distance(cupti_ticks, latest_ns_) < 3600 * kSecondNs) return cupti_ticks;
  if (ns_per_tick_ <= 0) return 0;
  const double distance_ns =
      static_cast<double>(Distance(cupti_ticks, latest_ticks_)) * ns_per_tick_;
  if (distance_ns > 3600.0 * kSecondNs) return 0;
  const auto distance = static_cast<uint64_t>(distance_ns);
  return cupti_ticks >= latest_ticks_ ? latest_ns_ + distance : latest_ns_ - distance;
}

void CuptiClock::ConvertTimes(cupti::RecordHead* record) const {
  const auto convert = [&](auto* timed) {
    timed->start = Converted(timed->start);
    timed->end = Converted(timed->end);
  };
  switch (record->kind) {
    case cupti::kKindConcurrentKernel:
      return convert(reinterpret_cast<cupti::KernelRecord*>(record));
    case cupti::kKindMemcpy:
      return convert(reinterpret_cast<cupti::MemcpyRecord*>(record));
    case cupti::kKindMemcpy2:
      return convert(reinterpret_cast<cupti::PeerCopyRecord*>(record));
    case cupti::kKindMemset:
      return convert(reinterpret_cast<cupti::MemsetRecord*>(record));
    case cupti::kKindDriver:
    case cupti::kKindRuntime:
      return convert(reinterpret_cast<cupti::ApiRecord*>(record));
    case cupti::kKindOverhead:
      return convert(reinterpret_cast<cupti::OverheadRecord*>(record));
    case cupti::kKindMarker: {
      auto* marker = reinterpret_cast<cupti::MarkerRecord*>(record);
      marker->timestamp = Converted(marker->timestamp);
      return;
    }
    default:
      return;
  }
}

}  // namespace utlz::agent
