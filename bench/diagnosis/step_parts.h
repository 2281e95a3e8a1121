// Parts of a training step, and steps put together from them.
#ifndef UTLZ_BENCH_DIAGNOSIS_STEP_PARTS_H_
#define UTLZ_BENCH_DIAGNOSIS_STEP_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// The same numbers on every machine.
class Chance {
 public:
  // From 0 to 1.
  double Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) / 16777216.0;
  }

 private:
  uint32_t state_ = 11;
};

// Trainings learn forward for a third of their launches, and end in an optimizer.
Step Forward(const Step& step);
Step Backward(const Step& step);
Step Optimizer(const Step& step);
Step WithoutOptimizer(const Step& step);

// The `index`th of `parts` equal parts.
Step Part(const Step& step, size_t index, size_t parts);

void Append(const Step& items, Step* step);

// The same kernels with `factor` times the work, in as many times the time.
Step Larger(Step step, double factor);

// `items` of another draft's step as items of `run`, which gets their kernels.
Step Imported(const Step& items, const PlannedRun& other, PlannedRun* run);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_STEP_PARTS_H_
