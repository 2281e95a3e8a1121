#include "collector/timeline/step_starts.h"

#include <algorithm>

namespace utlz {

void StepStarts::Add(uint64_t start_ns) {
  const uint64_t index = added_++;
  if (!Keeps(index)) return;
  if (starts_.size() >= kMost) Thin();
  if (Keeps(index)) starts_.push_back({start_ns, index});
}

// Two starts make one step: of four the first two are kept, then of eight, and so on.
void StepStarts::Thin() {
  stride_ = stride_ == 1 ? 4 : 2 * stride_;
  std::erase_if(starts_, [this](const Start& start) { return !Keeps(start.index); });
}

std::vector<std::pair<uint64_t, uint64_t>> StepStarts::Steps() const {
  std::vector<Start> sorted = starts_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Start& a, const Start& b) { return a.time_ns < b.time_ns; });
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  for (size_t i = 1; i < sorted.size(); ++i) {
    const bool one_step = stride_ == 1 || sorted[i].index == sorted[i - 1].index + 1;
    if (one_step) steps.emplace_back(sorted[i - 1].time_ns, sorted[i].time_ns);
  }
  return steps;
}

}  // namespace utlz
