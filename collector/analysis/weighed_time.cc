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
  if (end_ns <= start_ns) return;
  const Length before = Until(UINT64_MAX);
  parts_.push_back({start_ns, end_ns, weight, before.plain_ns, before.weighed_ns});
}

void WeighedTime::Multiply(double factor) {
  for (Part& part : parts_) {
    part.weight *= factor;
    part.weighed_before_ns *= factor;
  }
}

WeighedTime WeighedTime::Without(const std::vector<Cut>& cuts) const {
  WeighedTime rest;
  auto first = cuts.begin();
  for (const Part& part : parts_) {
    while (first != cuts.end() && first->end_ns <= part.start_ns) ++first;
    uint64_t at_ns = part.start_ns;
    for (auto cut = first; cut != cuts.end() && cut->start_ns < part.end_ns; ++cut) {
      const uint64_t end_ns = std::min(cut->end_ns, part.end_ns);
      if (end_ns <= at_ns) continue;
      rest.Add(at_ns, cut->start_ns, part.weight);
      rest.Add(std::max(at_ns, cut->start_ns), end_ns, part.weight * (1 - cut->share));
      at_ns = end_ns;
    }
    rest.Add(at_ns, part.end_ns, part.weight);
  }
  return rest;
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

WeighedTime::Length WeighedTime::Until(uint64_t time_ns) const {
  const auto after = std::partition_point(parts_.begin(), parts_.end(),
                                          [&](const Part& one) { return one.start_ns < time_ns; });
  if (after == parts_.begin()) return {};
  const Part& part = *(after - 1);
  const auto length_ns = static_cast<double>(std::min(time_ns, part.end_ns) - part.start_ns);
  return {part.length_before_ns + length_ns, part.weighed_before_ns + part.weight * length_ns};
}

double WeighedTime::MeanWeight(uint64_t start_ns, uint64_t end_ns) const {
  if (parts_.empty() || end_ns <= start_ns) return 0;
  const Length before = Until(start_ns);
  const Length until = Until(end_ns);
  const double plain_ns = until.plain_ns - before.plain_ns;
  if (plain_ns <= 0) return 0;
  const uint64_t first_ns = std::max(start_ns, parts_.front().start_ns);
  const uint64_t last_ns = std::min(end_ns, parts_.back().end_ns);
  const double inside =
      static_cast<double>(last_ns - first_ns) / static_cast<double>(end_ns - start_ns);
  return inside * (until.weighed_ns - before.weighed_ns) / plain_ns;
}

}  // namespace utlz
