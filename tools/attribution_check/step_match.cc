#include "tools/attribution_check/step_match.h"

#include <unordered_map>

namespace utlz {

StepRun FindSteps(const std::vector<size_t>& recording, const std::vector<size_t>& reference) {
  StepRun best;
  const size_t period = reference.size();
  if (period == 0) return best;
  std::unordered_map<size_t, std::vector<size_t>> positions;
  for (size_t i = 0; i < period; ++i) positions[reference[i]].push_back(i);

  // Length of the run that ends with the launch before, by its position within a step.
  std::unordered_map<size_t, size_t> lengths;
  size_t longest = 0;
  for (size_t i = 0; i < recording.size(); ++i) {
    std::unordered_map<size_t, size_t> next;
    const auto fitting = positions.find(recording[i]);
    if (fitting != positions.end()) {
      for (const size_t position : fitting->second) {
        const auto before = lengths.find((position + period - 1) % period);
        const size_t length = before == lengths.end() ? 1 : before->second + 1;
        next[position] = length;
        if (length <= longest) continue;
        longest = length;
        best.first = i + 1 - length;
        best.steps = length / period;
        best.first_position = (position + period - (length - 1) % period) % period;
      }
    }
    lengths = std::move(next);
  }
  return best;
}

}  // namespace utlz
