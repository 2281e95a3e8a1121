#include "collector/analysis/weighed_time.h"

#include <algorithm>

namespace utlz {
namespace {

void AddWeighed(const StretchContent& from, double weight, StretchContent* to) {
  for (size_t i = 0; i < kTimeCategories; ++i) to->time_ns[i] += weight * from.time_ns[i];
  for (size_t i = 0; i < kGapCategories; ++i) to->gaps[i] += weight * from.gaps[i];
}

}  // namespace

void WeighedTime::Add(uint64_t start_ns, uint64_t end_ns, double weight) {
  if (end_ns > start_ns) parts_.push_back({start_ns, end_ns, weight});
}

StretchContent WeighedTime::ContentOf(const ActivityTotals& ledger) const {
  StretchContent content;
  for (const Part& part : parts_) {
    AddWeighed(ledger.Between(part.start_ns, part.end_ns), part.weight, &content);
  }
  return content;
}

double WeighedTime::LengthNs(uint64_t start_ns, uint64_t end_ns) const {
  double length_ns = 0;
  auto part = std::partition_point(parts_.begin(), parts_.end(),
                                   [&](const Part& one) { return one.end_ns <= start_ns; });
  for (; part != parts_.end() && part->start_ns < end_ns; ++part) {
    const uint64_t overlap_ns = std::min(end_ns, part->end_ns) - std::max(start_ns, part->start_ns);
    length_ns += part->weight * static_cast<double>(overlap_ns);
  }
  return length_ns;
}

}  // namespace utlz
