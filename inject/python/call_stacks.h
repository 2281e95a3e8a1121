// Which stack a launching call had, by the call's number: callbacks come on launching threads,
// records of the same number later and on another thread. Bounded: what is not fetched in time is
// overwritten, and then the launch has no stack. Nor has a call whose number comes twice: CUPTI
// gives all calls of a thread one number after its callbacks went off inside of a call. No lock; any
// threads.
#ifndef UTLZ_INJECT_PYTHON_CALL_STACKS_H_
#define UTLZ_INJECT_PYTHON_CALL_STACKS_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

class CallStacks {
 public:
  // Two buffers of records from each of a hundred threads, and more than a second of most programs.
  static constexpr uint32_t kEntries = 1u << 17;

  // Once, before all others. False where there is no memory.
  bool Create() { return (entries_ = MapArray<Entry>(kEntries)) != nullptr; }
  void Clear() { ClearArray(entries_, kEntries); }

  // `hash` is not 0.
  void Put(uint32_t call, uint64_t hash) {
    Entry& entry = entries_[call % kEntries];
    const bool comes_again = KeyIn(entry) == KeyOf(call) || KeyIn(entry) == KeyOfTaken(call);
    const uint64_t key = comes_again ? KeyOfTaken(call) : KeyOf(call);
    entry.hash.store(hash, std::memory_order_relaxed);
    entry.check.store(hash ^ key, std::memory_order_release);
  }
  // 0 where it is not known. Halves of two entries do not fit together.
  uint64_t Get(uint32_t call) const {
    const Entry& entry = entries_[call % kEntries];
    const uint64_t check = entry.check.load(std::memory_order_acquire);
    const uint64_t hash = entry.hash.load(std::memory_order_relaxed);
    return (hash ^ check) == KeyOf(call) ? hash : 0;
  }
  // The same for the first who asks; from then on the call is not known.
  uint64_t Take(uint32_t call) {
    const uint64_t hash = Get(call);
    uint64_t check = hash ^ KeyOf(call);
    if (hash != 0) {
      entries_[call % kEntries].check.compare_exchange_strong(check, hash ^ KeyOfTaken(call));
    }
    return hash;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> hash;
    std::atomic<uint64_t> check;
  };
  static uint64_t KeyIn(const Entry& entry) {
    const uint64_t check = entry.check.load(std::memory_order_acquire);
    return entry.hash.load(std::memory_order_relaxed) ^ check;
  }
  // Of a call that nobody is given.
  static uint64_t KeyOfTaken(uint32_t call) { return ~KeyOf(call); }
  static uint64_t KeyOf(uint32_t call) {
    return (uint64_t{call} << 32 | (call ^ 0xFFFFFFFFu)) * 0x9E3779B97F4A7C15u;
  }

  Entry* entries_ = nullptr;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_CALL_STACKS_H_
