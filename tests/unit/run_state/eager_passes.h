// Passes of a made-up model: kernels that repeat from layer to layer, each launched from a place of
// its own.
#ifndef UTLZ_TESTS_UNIT_RUN_STATE_EAGER_PASSES_H_
#define UTLZ_TESTS_UNIT_RUN_STATE_EAGER_PASSES_H_

#include <cstdint>
#include <random>
#include <vector>

#include "collector/run/eager_order.h"

namespace utlz {

struct PlacedKernel {
  uint32_t kernel;
  uint32_t stack;
};
using Pass = std::vector<PlacedKernel>;

inline uint32_t Below(std::mt19937* random, uint32_t bound) {
  return static_cast<uint32_t>((*random)() % bound);
}

// A prologue, `layers` times the same kernels, an epilogue. Stacks from `first_stack` on.
inline Pass MakePass(std::mt19937* random, uint32_t layers, uint32_t first_stack = 1) {
  const auto make = [&](uint32_t base, size_t length) {
    std::vector<uint32_t> kernels;
    for (size_t i = 0; i < length; ++i) {
      // Some kernels come again within a layer.
      const bool again = !kernels.empty() && Below(random, 3) == 0;
      kernels.push_back(again ? kernels[(*random)() % kernels.size()]
                              : base + static_cast<uint32_t>(i));
    }
    return kernels;
  };
  const std::vector<uint32_t> before = make(100, 1 + Below(random, 4));
  const std::vector<uint32_t> layer = make(200, 3 + Below(random, 12));
  const std::vector<uint32_t> after = make(300, 1 + Below(random, 3));
  Pass pass;
  const auto add = [&](const std::vector<uint32_t>& kernels) {
    for (const uint32_t kernel : kernels) {
      pass.push_back({kernel, first_stack + static_cast<uint32_t>(pass.size())});
    }
  };
  add(before);
  for (uint32_t i = 0; i < layers; ++i) add(layer);
  add(after);
  return pass;
}

inline std::vector<uint32_t> KernelsOf(const Pass& pass) {
  std::vector<uint32_t> kernels;
  for (const PlacedKernel& one : pass) kernels.push_back(one.kernel);
  return kernels;
}

inline Activity ActivityOf(const PlacedKernel& one, bool of_graph = false) {
  return {.start_ns = 0,
          .end_ns = 1,
          .kernel = one.kernel,
          .stream = 7,
          .context = 1,
          .source = 1,
          .kind = ActivityKind::kCompute,
          .begins_launch = true,
          .of_graph = of_graph,
          .stack = one.stack};
}

// The launch of a graph stands between what came before and this pass.
inline void AddPass(const Pass& pass, EagerOrder* order) {
  order->Add(0, ActivityOf({1, 1}, true));
  for (const PlacedKernel& one : pass) order->Add(0, ActivityOf(one));
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_RUN_STATE_EAGER_PASSES_H_
