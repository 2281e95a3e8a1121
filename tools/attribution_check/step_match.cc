#include "tools/attribution_check/step_match.h"

#include <algorithm>
#include <unordered_map>

namespace utlz {
namespace {

// Runs that follow the reference's sequence and end with the latest launch, by the position within
// a step that the launch has.
class Runs {
 public:
  explicit Runs(const std::vector<size_t>& reference)
      : ended_(reference.size(), 0), lengths_(reference.size(), 0) {
    for (size_t i = 0; i < reference.size(); ++i) positions_[reference[i]].push_back(i);
  }

  // The longest run that ends with the next launch.
  size_t Extend(size_t kernel) {
    ++launches_;
    const auto fitting = positions_.find(kernel);
    if (fitting == positions_.end()) return 0;
    next_.clear();
    for (const size_t position : fitting->second) {
      const size_t before = (position + lengths_.size() - 1) % lengths_.size();
      next_.push_back(ended_[before] + 1 == launches_ ? lengths_[before] + 1 : 1);
    }
    size_t longest = 0;
    for (size_t i = 0; i < next_.size(); ++i) {
      ended_[fitting->second[i]] = launches_;
      lengths_[fitting->second[i]] = next_[i];
      longest = std::max(longest, next_[i]);
    }
    return longest;
  }

 private:
  std::unordered_map<size_t, std::vector<size_t>> positions_;
  std::vector<size_t> ended_;  // with which launch, counted from 1
  std::vector<size_t> lengths_;
  std::vector<size_t> next_;  // scratch
  size_t launches_ = 0;
};

}  // namespace

// The step that ends first leaves most room for others.
std::vector<size_t> FindSteps(const std::vector<size_t>& recording,
                              const std::vector<size_t>& reference) {
  std::vector<size_t> begins;
  const size_t period = reference.size();
  if (period == 0) return begins;
  Runs runs(reference);
  size_t taken_to = 0;
  for (size_t i = 0; i < recording.size(); ++i) {
    if (runs.Extend(recording[i]) < period || i + 1 < taken_to + period) continue;
    taken_to = i + 1;
    begins.push_back(taken_to - period);
  }
  return begins;
}

}  // namespace utlz
