// A run whose model was launched kernel by kernel once, and then as a CUDA graph: what each kernel
// of the graph belongs to can be inferred.
#ifndef UTLZ_TESTS_SUPPORT_GRAPH_RUN_H_
#define UTLZ_TESTS_SUPPORT_GRAPH_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/profile.pb.h"
#include "tests/support/made_up_stacks.h"
#include "tests/support/run_builder.h"

namespace utlz {

// Of the model's layers `part.0`, `part.1`, …, which line 41, 42, … of model.py launches.
inline const std::vector<std::string> kGraphRunKernels = {
    "embedding_gather", "gemm_up", "gelu_elementwise", "gemm_down", "softmax_head"};
inline constexpr uint64_t kGraphRunKernelNs = 1000;

// After the run's and the process's start. Line 7 of serve.py replays the graph. `captured`: its
// capture was seen.
template <typename Run>
void SendGraphRun(int replays, Run* run, bool captured = false) {
  const auto kernels = static_cast<uint32_t>(kGraphRunKernels.size());
  MadeUpStacks stacks(1);
  const uint32_t replay = stacks.Function(0, "serve", "/home/me/serve.py", 7);
  const uint32_t model =
      stacks.Module(stacks.Function(0, "main", "/home/me/serve.py", 3), "", "Gpt");
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < kernels; ++i) {
    const uint32_t part = stacks.Module(model, "part." + std::to_string(i), "Part");
    places.push_back(stacks.Function(part, "forward", "/home/me/model.py", 41 + i));
  }
  stacks.SendTo(run);
  Strings strings;
  strings.set_first(stacks.next_string());
  Variants variants;
  for (uint32_t i = 0; i < 2 * kernels; ++i) {  // by themselves, then as nodes
    if (i < kernels) strings.add_values(kGraphRunKernels[i]);
    variants.add_name(strings.first() + i % kernels);
    for (auto* column :
         {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
          variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
      column->Add(8);
    }
    variants.add_graph(i < kernels ? 0 : 1);
    variants.add_graph_node(i < kernels ? 0 : 1 + i);
    if (captured) variants.add_captured_stack(i < kernels ? 0 : places[i - kernels]);
  }
  run->Send(1, FRAME_STRINGS, strings);
  run->Send(1, FRAME_VARIANTS, variants);
  uint64_t now_ns = 1000;
  for (int pass = 0; pass <= replays; ++pass) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < kernels; ++i, now_ns += kGraphRunKernelNs + 10) {
      launches.push_back(
          RunBuilder::LaunchAt(now_ns, kGraphRunKernelNs, pass == 0 ? i : kernels + i));
      launches.back().stack = pass == 0 ? places[i] : replay;
    }
    run->SendLaunches(launches, 1, 7, static_cast<uint32_t>(pass));
    now_ns += 1000;
  }
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_GRAPH_RUN_H_
