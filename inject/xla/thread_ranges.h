// Which ranges of XLA's each thread is in, by the numbers of their titles. A thread writes to its
// own entry alone. Threads that find no entry are in none.
//
// No lock, no allocation, no system call; the calling thread's ranges.
#ifndef UTLZ_INJECT_XLA_THREAD_RANGES_H_
#define UTLZ_INJECT_XLA_THREAD_RANGES_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

class ThreadRanges {
 public:
  static constexpr uint32_t kMostThreads = 4096;
  static constexpr uint32_t kMostDepth = 24;  // what is further inside is not known

  struct Thread {
    std::atomic<uint64_t> owner;  // 0: free
    uint32_t depth;
    uint32_t last_title;     // that was registered
    uint32_t watched_depth;  // where the range lies whose end is waited for; 0: none
    uint32_t titles[kMostDepth];

    // 0: a range without a title that is known.
    void Push(uint32_t title) {
      if (depth < kMostDepth) titles[depth] = title;
      ++depth;
    }
    void Pop() {
      if (depth > 0) --depth;
    }
    // The innermost title of which `is_wanted` is true; 0 where none is.
    template <typename IsWanted>
    uint32_t Innermost(IsWanted is_wanted) const {
      for (uint32_t i = depth < kMostDepth ? depth : kMostDepth; i > 0; --i) {
        if (titles[i - 1] != 0 && is_wanted(titles[i - 1])) return titles[i - 1];
      }
      return 0;
    }
  };

  // Once, before all others. False where there is no memory.
  bool Create() { return (threads_ = MapArray<Thread>(kMostThreads)) != nullptr; }

  // Null where the thread has none, and for Mine, where there is no room.
  Thread* Known() const { return Search(false); }
  Thread* Mine() { return Search(true); }

 private:
  static constexpr uint32_t kProbes = 64;

  Thread* Search(bool takes_one) const {
    const auto self = static_cast<uint64_t>(pthread_self());
    const auto first = static_cast<uint32_t>(self * 0x9E3779B97F4A7C15u >> 40);
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      Thread& thread = threads_[(first + probe) % kMostThreads];
      uint64_t owner = thread.owner.load(std::memory_order_relaxed);
      if (owner == self) return &thread;
      if (owner != 0) continue;
      if (!takes_one) return nullptr;
      if (thread.owner.compare_exchange_strong(owner, self, std::memory_order_relaxed)) {
        return &thread;
      }
    }
    return nullptr;
  }

  Thread* threads_ = nullptr;  // open addressing; a thread's entry outlives it, for the next one
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_XLA_THREAD_RANGES_H_
