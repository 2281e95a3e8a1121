// The launches in a file that torch.compile generated, in the order of the file. Where the agent
// read the file and sent the operations of its launches, these launches are listed; of other files,
// the launches that the agent recorded.
//
// Trust: files and lines come from targets. Beyond kMostFiles a file without operations has none.
#ifndef UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_
#define UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/owners/stack_owners.h"
#include "collector/run/run_state.h"

namespace utlz {

struct CompiledLaunch {
  uint32_t line = 0;
  uint32_t end = 0;    // the first line after it
  uint32_t label = 0;  // launches of the same work in a file have the same label
  // "add + native_layer_norm"; where the operations are not known, the family of the kernels. Valid
  // as long as its CompiledLaunches.
  std::string_view name;
};

// Thread safety: none.
class CompiledLaunches {
 public:
  static constexpr size_t kMostFiles = 4096;

  // `state` outlives it, and stays as it is.
  explicit CompiledLaunches(const RunState& state) : state_(state), owners_(state.stacks) {}

  // By line.
  std::vector<CompiledLaunch> Of(const std::string& file);

 private:
  using Kernels = std::map<uint32_t, uint64_t>;  // with the time of each

  bool HasOperations(const std::string& file) const {
    return state_.compiled_operations.LaunchesOf(file) != nullptr;
  }
  void ReadSites();
  std::string NameOf(const Kernels& kernels) const;

  const RunState& state_;
  StackOwners owners_;
  bool has_sites_ = false;
  // What was recorded in files without operations, by line.
  std::map<std::string, std::map<uint32_t, Kernels>> sites_;
  std::set<std::string> names_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_COMPILED_LAUNCHES_H_
