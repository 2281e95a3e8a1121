// Keeps for each thread which ranges of XLA's it is in, by the numbers of their titles. Each thread
// reads and writes its own entry alone. A thread for which there is no room counts as in no range.
//
// Pushing, popping and searching take no lock and no memory, and make no system call.
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
    uint32_t last_title;     // the last one that this thread registered
    uint32_t watched_depth;  // of the range whose end the agent is to hear of; 0: of none
    uint32_t titles[kMostDepth];

    // `title` is 0 for a range whose title was not registered.
    void Push(uint32_t title) {
      if (depth < kMostDepth) titles[depth] = title;
      ++depth;
    }
    void Pop() {
      if (depth > 0) --depth;
    }
    // Asks `is_wanted` of each title that the thread is in, the innermost first, and returns the
    // first one that it answers with true; 0 where it never does.
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

  // The calling thread's entry. Known returns null where the thread has none yet; Mine makes one,
  // and returns null where there is no room.
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
