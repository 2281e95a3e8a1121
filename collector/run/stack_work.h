// What was launched from where: the recorded launches and time of each kernel by the stack that
// launched it. Launches without a stack are not in it.
//
// Trace windows form a few groups, and launches are counted in each group too: by how much a
// stack's share of a kernel differs from group to group tells how well it is known of the time
// between windows.
//
// Bounded by kMostSites and the run's memory: beyond them launches count as if they had no stack.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_STACK_WORK_H_
#define UTLZ_COLLECTOR_RUN_STACK_WORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "collector/run/memory_budget.h"

namespace utlz {

class StackWork {
 public:
  static constexpr size_t kMostSites = 1u << 18;

  static constexpr size_t kGroups = 8;

  struct Sums {
    uint64_t launches = 0;
    uint64_t time_ns = 0;
    std::array<uint32_t, kGroups> launches_by_group{};
  };

  explicit StackWork(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // `kernel`: index into KernelTable. `window`: the number of the trace window.
  void Add(uint32_t stack, uint32_t kernel, uint64_t duration_ns, uint32_t window) {
    const uint64_t key = uint64_t{kernel} << 32 | stack;
    auto found = sites_.find(key);
    if (found == sites_.end()) {
      constexpr size_t kSiteBytes = 96;
      if (sites_.size() >= kMostSites || !memory_->Take(kSiteBytes)) return;
      found = sites_.emplace(key, Sums{}).first;
    }
    ++found->second.launches;
    ++found->second.launches_by_group[window % kGroups];
    found->second.time_ns += duration_ns;
  }

  bool empty() const { return sites_.empty(); }
  // Calls callback(kernel, stack, sums).
  template <typename Callback>
  void ForEachSite(Callback callback) const {
    for (const auto& entry : sites_) {
      callback(static_cast<uint32_t>(entry.first >> 32), static_cast<uint32_t>(entry.first),
               entry.second);
    }
  }

 private:
  std::shared_ptr<MemoryBudget> memory_;
  std::unordered_map<uint64_t, Sums> sites_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_STACK_WORK_H_
