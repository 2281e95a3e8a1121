#include "collector/counters/in_flight_work.h"

namespace utlz {

void InFlightWork::TracingWentOn(uint16_t source, uint64_t time_ns) {
  several_ = several_ || source_.value_or(source) != source;
  source_ = source;
  since_ns_ = time_ns;
}

void InFlightWork::AddActiveSample(uint64_t start_ns, uint64_t end_ns) {
  if (active_.size() == kMaxSamples) active_.pop_front();
  active_.push_back({start_ns, end_ns});
}

std::vector<InFlightWork::Span> InFlightWork::ActiveBetween(uint64_t start_ns,
                                                            uint64_t end_ns) const {
  std::vector<Span> spans;
  for (const Span& sample : active_) {
    if (sample.end_ns <= start_ns || sample.start_ns >= end_ns) continue;
    if (!spans.empty() && spans.back().end_ns == sample.start_ns) {
      spans.back().end_ns = sample.end_ns;
    } else {
      spans.push_back(sample);
    }
  }
  return spans;
}

std::vector<InFlightWork::Span> InFlightWork::Recorded(uint16_t source, uint64_t start_ns) {
  several_ = several_ || source_.value_or(source) != source;
  source_ = source;
  if (!since_ns_.has_value() || start_ns < *since_ns_) return {};
  const uint64_t since_ns = *since_ns_;
  since_ns_.reset();
  return several_ ? std::vector<Span>() : ActiveBetween(since_ns, start_ns);
}

std::vector<InFlightWork::Span> InFlightWork::NothingUntil(uint64_t time_ns) {
  std::vector<Span> spans;
  if (since_ns_.has_value() && time_ns > *since_ns_) {
    if (!several_) spans = ActiveBetween(*since_ns_, time_ns);
    since_ns_ = time_ns;
  }
  while (!active_.empty() && active_.front().end_ns <= time_ns) active_.pop_front();
  return spans;
}

}  // namespace utlz
