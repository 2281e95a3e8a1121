// The launches in a file that torch.compile generated, in the order of the file: those of which the
// agent sent operations, else those that were recorded.
#ifndef UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_
#define UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/owners/stack_owners.h"
#include "collector/run/run_state.h"

namespace utlz {

struct CompiledLaunch {
  uint32_t line = 0;
  uint32_t end = 0;    // the first line after it
  uint32_t label = 0;  // within the file: that of the same work is the same
  std::string name;    // "add + native_layer_norm"; of unknown operations the family of kernels
};

// Thread safety: none.
class CompiledLaunches {
 public:
  // `state` outlives it, and stays as it is.
  explicit CompiledLaunches(const RunState& state) : state_(state), owners_(state.stacks) {}

  // By line.
  std::vector<CompiledLaunch> Of(const std::string& file);

 private:
  using Kernels = std::map<uint32_t, uint64_t>;  // with the time of each

  void ReadSites();
  std::string NameOf(const Kernels& kernels) const;

  const RunState& state_;
  StackOwners owners_;
  bool has_sites_ = false;
  // What was recorded, by file and line.
  std::map<std::string, std::map<uint32_t, Kernels>> sites_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_
