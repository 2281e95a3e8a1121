#include "collector/owners/repeated_part.h"

#include <algorithm>

namespace utlz {
namespace {

size_t LengthOf(const RepeatedPart& part) { return part.period * part.times; }

// The longest stretch that repeats after `period` items.
RepeatedPart LongestWith(size_t period, const std::vector<uint32_t>& items) {
  RepeatedPart longest;
  size_t equal = 0;  // items in a row that come again a period later
  for (size_t i = 0; i + period < items.size(); ++i) {
    equal = items[i] == items[i + period] ? equal + 1 : 0;
    const size_t times = equal / period + 1;
    if (equal > 0 && times > longest.times) longest = {i + 1 - equal, period, times};
  }
  return longest;
}

bool IsOfSeveralItems(const RepeatedPart& part, const std::vector<uint32_t>& items) {
  const auto begin = items.begin() + static_cast<std::ptrdiff_t>(part.begin);
  return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(part.period),
                     [&](uint32_t item) { return item != *begin; });
}

}  // namespace

std::optional<RepeatedPart> FindRepeatedPart(const std::vector<uint32_t>& items, size_t* steps) {
  RepeatedPart best;
  for (size_t period = kFewestItemsOfPart; period <= items.size() / kFewestRepetitions; ++period) {
    if (*steps < items.size()) break;
    *steps -= items.size();
    const RepeatedPart part = LongestWith(period, items);
    if (part.times < kFewestRepetitions || LengthOf(part) <= LengthOf(best)) continue;
    if (IsOfSeveralItems(part, items)) best = part;
  }
  if (best.times == 0 || 2 * LengthOf(best) < items.size()) return std::nullopt;
  return best;
}

}  // namespace utlz
