#include "collector/owners/fold_layers.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "collector/owners/repeated_part.h"

namespace utlz {
namespace {

using Items = std::vector<uint32_t>;

// A repetition beside those that are equal.
struct Edge {
  Items positions;  // of its items, from those that are equal outwards; empty: there is none
  size_t matched = 0;
};

bool IsEnough(size_t matched, size_t period) { return 4 * matched >= 3 * period; }

// Aligns items with the part, both from the equal repetitions outwards, so that most are the same.
class EdgeAlignment {
 public:
  EdgeAlignment(const Items& window, const Items& pattern)
      : window_(window), pattern_(pattern), width_(pattern.size() + 1) {
    common_.resize((window.size() + 1) * width_);
    for (size_t i = window.size(); i-- > 0;) {
      for (size_t k = pattern.size(); k-- > 0;) {
        common_[i * width_ + k] = window[i] == pattern[k]
                                      ? Common(i + 1, k + 1) + 1
                                      : std::max(Common(i + 1, k), Common(i, k + 1));
      }
    }
  }

  Edge Find() const {
    Edge edge;
    edge.matched = Common(0, 0);
    if (!IsEnough(edge.matched, pattern_.size())) return {};
    size_t length = 0;
    for (size_t i = 0, k = 0; i < window_.size() && k < pattern_.size();) {
      if (window_[i] == pattern_[k]) {
        edge.positions.push_back(static_cast<uint32_t>(k++));
        length = ++i;
      } else if (Common(i, k + 1) >= Common(i + 1, k)) {
        ++k;
      } else {
        edge.positions.push_back(kNoPosition);
        ++i;
      }
    }
    edge.positions.resize(length);
    return edge;
  }

 private:
  uint32_t Common(size_t i, size_t k) const { return common_[i * width_ + k]; }

  const Items& window_;
  const Items& pattern_;
  size_t width_;
  Items common_;  // the most items that are the same, from item i and from k on
};

// Equal repetitions from one item on, with what is beside them.
struct Candidate {
  size_t begin = 0, equal = 0;
  Edge first, last;

  size_t times() const { return equal + (first.matched > 0) + (last.matched > 0); }
  auto Order(size_t period) const {
    return std::tuple(times(), equal * period + first.matched + last.matched);
  }
};

class Folding {
 public:
  Folding(const Items& items, const RepeatedPart& part, size_t* steps)
      : items_(items), begin_(part.begin), end_(part.begin), period_(part.period), steps_(steps) {
    end_ += part.period * part.times;
    while (end_ < items.size() && items[end_] == items[end_ - period_]) ++end_;
  }

  FoldedLayers Fold() {
    Candidate best;
    for (size_t shift = 0; shift < period_ && begin_ + shift + period_ <= end_; ++shift) {
      Candidate candidate = At(begin_ + shift);
      if (candidate.Order(period_) > best.Order(period_)) best = std::move(candidate);
    }
    return Describe(best);
  }

 private:
  Candidate At(size_t begin) {
    Candidate candidate;
    candidate.begin = begin;
    candidate.equal = (end_ - begin) / period_;
    const size_t length = period_ + period_ / 4, after = begin + candidate.equal * period_;
    if (*steps_ < 2 * length * period_) return candidate;
    *steps_ -= 2 * length * period_;
    const auto at = [this](size_t index) {
      return items_.begin() + static_cast<std::ptrdiff_t>(index);
    };
    Items pattern(at(begin), at(begin + period_));
    candidate.last =
        EdgeAlignment(Items(at(after), at(std::min(items_.size(), after + length))), pattern)
            .Find();
    Items before(at(begin - std::min(begin, length)), at(begin));
    std::reverse(before.begin(), before.end());
    std::reverse(pattern.begin(), pattern.end());
    candidate.first = EdgeAlignment(before, pattern).Find();
    return candidate;
  }

  FoldedLayers Describe(const Candidate& candidate) const {
    const Items& first = candidate.first.positions;
    FoldedLayers folded;
    folded.begin = candidate.begin - first.size();
    folded.times = candidate.times();
    for (size_t i = 0; i < period_; ++i) folded.pattern.push_back(items_[candidate.begin + i]);
    for (auto position = first.rbegin(); position != first.rend(); ++position) {
      const bool is_known = *position != kNoPosition;
      folded.positions.push_back(is_known ? static_cast<uint32_t>(period_) - 1 - *position
                                          : kNoPosition);
    }
    for (size_t i = 0; i < candidate.equal * period_; ++i) {
      folded.positions.push_back(static_cast<uint32_t>(i % period_));
    }
    const Items& last = candidate.last.positions;
    folded.positions.insert(folded.positions.end(), last.begin(), last.end());
    return folded;
  }

  const Items& items_;
  size_t begin_, end_;  // of all that repeats after a period
  size_t period_;
  size_t* steps_;
};

}  // namespace

std::optional<FoldedLayers> FoldLayers(const std::vector<uint32_t>& items, size_t* steps) {
  const std::optional<RepeatedPart> part = FindRepeatedPart(items, steps);
  if (!part.has_value()) return std::nullopt;
  return Folding(items, *part, steps).Fold();
}

}  // namespace utlz
