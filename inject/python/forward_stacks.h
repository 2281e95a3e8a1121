// Which stack the forward launches of a node had, by the thread that made the node and the node's
// number in it: they come before the backward launches, which have no stack of their own. Bounded:
// of what is older than kEntries nodes of a thread nothing is left. No lock; any threads.
#ifndef UTLZ_INJECT_PYTHON_FORWARD_STACKS_H_
#define UTLZ_INJECT_PYTHON_FORWARD_STACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

class ForwardStacks {
 public:
  static constexpr uint64_t kEntries = 1u << 17;  // the nodes of some steps of most programs

  // Once, before all others. False where there is no memory.
  bool Create() { return (entries_ = MapArray<Entry>(kEntries)) != nullptr; }
  void Clear() { ClearArray(entries_, kEntries); }

  // `hash` is not 0. The first one stays: what a thread launches later without making another node
  // is none of this node's. Returns whether it is the first one.
  bool Put(uint64_t thread, uint64_t number, uint64_t hash) {
    if (Get(thread, number) != 0) return false;
    Entry& entry = entries_[SlotOf(thread, number)];
    entry.hash.store(hash, std::memory_order_relaxed);
    entry.check.store(hash ^ KeyOf(thread, number), std::memory_order_release);
    return true;
  }
  // 0 where it is not known. Halves of two entries do not fit together.
  uint64_t Get(uint64_t thread, uint64_t number) const {
    const Entry& entry = entries_[SlotOf(thread, number)];
    const uint64_t check = entry.check.load(std::memory_order_acquire);
    const uint64_t hash = entry.hash.load(std::memory_order_relaxed);
    return hash != 0 && (hash ^ check) == KeyOf(thread, number) ? hash : 0;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> hash;
    std::atomic<uint64_t> check;
  };
  // Neighbouring numbers lie side by side, threads far from each other.
  static uint64_t SlotOf(uint64_t thread, uint64_t number) {
    return (number + (thread * 0x9E3779B97F4A7C15u >> 40)) % kEntries;
  }
  static uint64_t KeyOf(uint64_t thread, uint64_t number) {
    return (number + 1) * 0x9E3779B97F4A7C15u ^ thread * 0xC2B2AE3D27D4EB4Fu;
  }

  Entry* entries_ = nullptr;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_FORWARD_STACKS_H_
