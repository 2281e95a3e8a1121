// Stacks that are made of others, by their hash: what one is made of is put here by the launching
// thread, and looked up later when a record asks for it. Bounded: what has no room has no stack. No
// lock; any threads.
#ifndef UTLZ_INJECT_BASE_STACKS_BY_HASH_H_
#define UTLZ_INJECT_BASE_STACKS_BY_HASH_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

// `Stack` has Hash(), which is never 0, and ==.
template <typename Stack>
class StacksByHash {
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
  bool Put(uint64_t hash, const Stack& stack) {
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
  bool Get(uint64_t hash, Stack* stack) const {
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
    Stack stack;
  };
  Entry& EntryOf(uint64_t hash, uint32_t probe) const {
    return entries_[((hash >> 40) + probe) % kEntries];
  }

  Entry* entries_ = nullptr;
  std::atomic<uint32_t> count_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_STACKS_BY_HASH_H_
