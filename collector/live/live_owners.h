// The layers of the model and the lines of the program that a run spends its time in now, by the
// stacks that launched its kernels: of the last seconds their share, of the whole run their work. A
// kernel of a CUDA graph belongs to what it was captured from, where that was seen, and else to the
// launch of its graph.
//
// A snapshot looks at each pair of a stack and a kernel once. Owners are bounded: those beyond
// kMostOwners are one. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_OWNERS_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_OWNERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/live/live_kernels.h"
#include "collector/live/recent_launches.h"
#include "collector/owners/stack_owners.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

class LiveOwners {
 public:
  static constexpr size_t kMostShown = 64;
  static constexpr size_t kMostOwners = 4096;     // layers, and as many lines
  static constexpr size_t kMostInstances = 1024;  // of a layer: more are not counted

  // Of one run alone, which outlives it. `kernels` as LiveKernels knows them.
  void Update(const RunState& run_state, const std::vector<KernelOfWholeRun>& kernels);
  void AddTo(const RunState& run_state, LiveSnapshot* snapshot) const;

 private:
  static constexpr size_t kBounds = Bound_MAX + 1;

  struct Owner {
    std::string kind;
    std::string name;
    std::string module_class;
    std::set<size_t> paths;  // hashes of those that the name stands for
  };
  // Of the whole run.
  struct Work {
    double roofed_ns = 0;
    double roofline_ns = 0;
    double counted_ns = 0;
    double flops = 0;
    double read_ns = 0;
    double bytes = 0;
    std::array<double, kBounds> bound_ns{};

    void Add(const KernelOfWholeRun& kernel, double time_ns);
  };
  struct List {
    std::vector<Owner> owners;
    std::unordered_map<std::string, uint32_t> by_key;
    std::vector<uint32_t> of_stack;  // + 1; 0: not yet looked up
    std::vector<Work> works;         // as `owners`
    RecentLaunches recent;           // as `owners`

    uint32_t Find(const std::string& key, const char* kind, const std::string& name);
    void AddTo(google::protobuf::RepeatedPtrField<LiveOwner>* shown) const;
  };

  uint32_t LayerOf(uint32_t stack);
  uint32_t LineOf(uint32_t stack);
  static uint32_t OwnerOf(uint32_t stack, List* list, const std::function<uint32_t()>& find);

  std::optional<StackOwners> stacks_;
  List layers_;
  List lines_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_OWNERS_H_
