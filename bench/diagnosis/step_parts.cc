#include "bench/diagnosis/step_parts.h"

namespace utlz {
namespace {

constexpr size_t kOptimizerItems = 6;

Step Between(const Step& step, size_t first, size_t last) {
  return Step(step.begin() + static_cast<std::ptrdiff_t>(first),
              step.begin() + static_cast<std::ptrdiff_t>(last));
}

}  // namespace

Step Forward(const Step& step) { return Between(step, 0, step.size() / 3); }

Step Backward(const Step& step) {
  return Between(step, step.size() / 3, step.size() - kOptimizerItems);
}

Step Optimizer(const Step& step) {
  return Between(step, step.size() - kOptimizerItems, step.size());
}

Step WithoutOptimizer(const Step& step) { return Between(step, 0, step.size() - kOptimizerItems); }

Step Part(const Step& step, size_t index, size_t parts) {
  return Between(step, index * step.size() / parts, (index + 1) * step.size() / parts);
}

void Append(const Step& items, Step* step) {
  step->insert(step->end(), items.begin(), items.end());
}

Step Larger(Step step, double factor) {
  for (Item& item : step) {
    item.time_ns *= factor;
    item.work_share *= factor;
  }
  return step;
}

Step Imported(const Step& items, const PlannedRun& other, PlannedRun* run) {
  const auto offset = static_cast<uint32_t>(run->kernels.size());
  run->kernels.insert(run->kernels.end(), other.kernels.begin(), other.kernels.end());
  Step imported = items;
  for (Item& item : imported) item.kernel += offset;
  return imported;
}

}  // namespace utlz
