// Stacks that are made of others: launches of a backward pass belong to the stacks of their
// forward. What one is made of is put here by the launching thread and looked up later, by its
// hash, when a record asks for it. Bounded: what has no room has no stack. No lock; any threads.
#ifndef UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_
#define UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

// Of a launch inside a node. Hashes of stacks, 0 = none.
struct DerivedStack {
  uint64_t own = 0;  // the thread's own frames
  // The node's forward; where it launched nothing, what was launched before and after it.
  uint64_t before = 0, after = 0;
  bool is_exact = false;  // the forward itself is known
  // Of a node that nothing was launched for: the one that this thread was in before.
  uint64_t previous = 0;

  bool operator==(const DerivedStack&) const = default;
  // Never 0.
  uint64_t Hash() const {
    uint64_t hash = is_exact ? 3 : 2;
    for (const uint64_t value : {own, before, after, previous}) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash != 0 ? hash : 1;
  }
};

class DerivedStacks {
 public:
  static constexpr uint32_t kEntries = 1u << 15;

  // Once, before all others. False where there is no memory.
  bool Create() { return (entries_ = MapArray<Entry>(kEntries)) != nullptr; }
  void Clear() {
    count_.store(0, std::memory_order_relaxed);
    ClearArray(entries_, kEntries);
  }
  bool IsHalfFull() const { return count_.load(std::memory_order_relaxed) > kEntries / 2; }

  // False where there is no room.
  bool Put(uint64_t hash, const DerivedStack& stack) {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      Entry& entry = EntryOf(hash, probe);
      uint32_t state = entry.state.load(std::memory_order_acquire);
      if (state == kFull && entry.hash == hash && entry.stack == stack) return true;
      if (state != kFree ||
          !entry.state.compare_exchange_strong(state, kFilling, std::memory_order_acquire)) {
        continue;  // two threads may put the same one twice, which is no harm
      }
      entry.hash = hash;
      entry.stack = stack;
      entry.state.store(kFull, std::memory_order_release);
      count_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  bool Get(uint64_t hash, DerivedStack* stack) const {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      const Entry& entry = EntryOf(hash, probe);
      const uint32_t state = entry.state.load(std::memory_order_acquire);
      if (state == kFree) return false;
      if (state != kFull || entry.hash != hash) continue;
      *stack = entry.stack;
      return stack->Hash() == hash;  // not while it was being cleared
    }
    return false;
  }

 private:
  static constexpr uint32_t kProbes = 16;
  enum State : uint32_t { kFree = 0, kFilling = 1, kFull = 2 };
  struct Entry {
    std::atomic<uint32_t> state;
    uint64_t hash;
    DerivedStack stack;
  };
  Entry& EntryOf(uint64_t hash, uint32_t probe) const {
    return entries_[((hash >> 40) + probe) % kEntries];
  }

  Entry* entries_ = nullptr;
  std::atomic<uint32_t> count_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_
