#include "collector/counters/work_without_records.h"

#include <algorithm>

namespace utlz {
namespace {

void Append(uint64_t start_ns, uint64_t end_ns, std::vector<WorkWithoutRecords::Span>* spans) {
  if (!spans->empty() && spans->back().end_ns == start_ns) {
    spans->back().end_ns = end_ns;
  } else {
    spans->push_back({start_ns, end_ns});
  }
}

}  // namespace

void WorkWithoutRecords::TracingWentOn(uint16_t source, uint64_t time_ns) {
  several_ = several_ || source_.value_or(source) != source;
  source_ = source;
  since_ns_ = time_ns;
}

void WorkWithoutRecords::NotTraced(uint64_t start_ns, uint64_t end_ns) {
  if (end_ns > start_ns && start_ns >= not_traced_.start_ns) not_traced_ = {start_ns, end_ns};
}

void WorkWithoutRecords::AddSampledTime(uint64_t start_ns, uint64_t end_ns) {
  if (!sampled_.empty() && start_ns <= sampled_.back().end_ns + kClocksDifferNs) {
    sampled_.back().end_ns = std::max(sampled_.back().end_ns, end_ns);
    return;
  }
  if (sampled_.size() == kMaxSamples) sampled_.pop_front();
  sampled_.push_back({start_ns, end_ns});
}

void WorkWithoutRecords::AddActiveSample(uint64_t start_ns, uint64_t end_ns, double cycles) {
  if (active_.size() == kMaxSamples) active_.pop_front();
  active_.push_back({start_ns, end_ns, cycles});
}

std::vector<WorkWithoutRecords::Span> WorkWithoutRecords::ActiveBetween(uint64_t start_ns,
                                                                        uint64_t end_ns) const {
  std::vector<Span> spans;
  auto sample =
      std::upper_bound(active_.begin(), active_.end(), start_ns,
                       [](uint64_t time_ns, const Sample& one) { return time_ns < one.end_ns; });
  for (; sample != active_.end() && sample->start_ns < end_ns; ++sample) {
    Append(sample->start_ns, sample->end_ns, &spans);
  }
  return spans;
}

WorkWithoutRecords::Seen WorkWithoutRecords::SeenBetween(uint64_t start_ns, uint64_t end_ns) const {
  Seen seen;
  if (several_) return seen;
  const auto overlap_ns = [&](const Span& span) {
    const uint64_t from_ns = std::max(span.start_ns, start_ns);
    const uint64_t until_ns = std::min(span.end_ns, end_ns);
    return until_ns > from_ns ? until_ns - from_ns : 0;
  };
  for (const Span& span : sampled_) seen.sampled_ns += overlap_ns(span);
  for (const Span& span : ActiveBetween(start_ns, end_ns)) {
    seen.active_ns += overlap_ns(span);
    seen.active_until_ns = std::min(span.end_ns, end_ns);
  }
  return seen;
}

std::vector<WorkWithoutRecords::Span> WorkWithoutRecords::LeftOutUntil(uint64_t end_ns) {
  std::vector<Span> spans;
  if (!recorded_until_ns_.has_value() || end_ns <= *recorded_until_ns_ + 2 * kClocksDifferNs) {
    return spans;
  }
  const uint64_t from_ns = *recorded_until_ns_ + kClocksDifferNs;
  const uint64_t until_ns = end_ns - kClocksDifferNs;
  // Between most launches of a program that waits for them the GPU idles: few samples are looked
  // at.
  auto sample =
      std::lower_bound(active_.begin(), active_.end(), from_ns,
                       [](const Sample& one, uint64_t time_ns) { return one.start_ns < time_ns; });
  for (; sample != active_.end() && sample->end_ns <= until_ns; ++sample) {
    if (sample->end_ns > not_traced_.start_ns && sample->start_ns < not_traced_.end_ns) continue;
    Append(sample->start_ns, sample->end_ns, &spans);
    left_out_cycles_ += sample->cycles;
  }
  return spans;
}

std::vector<WorkWithoutRecords::Span> WorkWithoutRecords::Recorded(uint16_t source,
                                                                   uint64_t start_ns,
                                                                   uint64_t end_ns) {
  several_ = several_ || source_.value_or(source) != source;
  source_ = source;
  if (since_ns_.has_value() && start_ns < *since_ns_) return {};
  std::vector<Span> spans;
  if (since_ns_.has_value() && !several_) spans = ActiveBetween(*since_ns_, start_ns);
  if (!since_ns_.has_value() && !several_) spans = LeftOutUntil(start_ns);
  since_ns_.reset();
  recorded_until_ns_ = std::max(recorded_until_ns_.value_or(0), end_ns);
  return spans;
}

std::vector<WorkWithoutRecords::Span> WorkWithoutRecords::NothingUntil(uint64_t time_ns) {
  std::vector<Span> spans;
  if (since_ns_.has_value() && time_ns > *since_ns_) {
    if (!several_) spans = ActiveBetween(*since_ns_, time_ns);
    since_ns_ = time_ns;
  } else if (!since_ns_.has_value() && !several_) {
    spans = LeftOutUntil(time_ns);
  }
  const uint64_t needed_ns = time_ns - std::min(time_ns, kClocksDifferNs);
  while (!active_.empty() && active_.front().end_ns <= needed_ns) active_.pop_front();
  while (!sampled_.empty() && sampled_.front().end_ns <= needed_ns) sampled_.pop_front();
  return spans;
}

}  // namespace utlz
