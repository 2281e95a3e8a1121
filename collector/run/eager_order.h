// In which order a run launches kernels by themselves: which launch site follows which. A site is a
// kernel with the stack that launched it.
//
// Passes of a loop that are equal add nothing: memory is bounded by what a program launches and
// from where, never by how long it runs. A site may follow another on its stream, or in its process
// as a whole. What was not recorded, and launches of graphs, end a chain of sites.
//
// Bounded by kMostSites, kMostFollowers, kMostChains and the run's memory: what does not fit has no
// order. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_EAGER_ORDER_H_
#define UTLZ_COLLECTOR_RUN_EAGER_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/run/memory_budget.h"
#include "collector/timeline/activity.h"

namespace utlz {

class EagerOrder {
 public:
  static constexpr size_t kMostSites = 1u << 17;
  static constexpr size_t kMostFollowers = 32;  // of one site
  static constexpr size_t kMostChains = 4096;
  static constexpr uint32_t kNoSite = UINT32_MAX;

  struct Site {
    uint32_t kernel = 0;  // index into KernelTable
    uint32_t stack = 0;   // of StackTable; 0: not known
    std::vector<uint32_t> followers;
  };

  explicit EagerOrder(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // What ran on a device, in order of start.
  void Add(uint32_t device, const Activity& activity);

  const std::vector<Site>& sites() const { return sites_; }

 private:
  using Chains = std::unordered_map<uint64_t, uint32_t>;  // the latest site, by key

  uint32_t SiteOf(uint32_t previous, const Activity& activity);
  void Link(uint64_t key, uint32_t site, Chains* chains);
  void Append(uint32_t from, uint32_t to);

  std::shared_ptr<MemoryBudget> memory_;
  std::vector<Site> sites_;
  std::unordered_map<uint64_t, uint32_t> site_ids_;  // key: kernel in the upper half, stack
  Chains processes_, streams_;
  bool any_stack_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_EAGER_ORDER_H_
