// Finds by how much the numbers of autograd's nodes grow from one training step to the next. Where
// each step makes the same nodes, a line of the program launches again after so many nodes.
//
// Any threads, without a lock. While a program changes what its steps do, the answer may be wrong.
#ifndef UTLZ_INJECT_PYTHON_NODE_PERIOD_H_
#define UTLZ_INJECT_PYTHON_NODE_PERIOD_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

class NodePeriod {
 public:
  // A distance is the period once it was seen so many more times than all others together.
  static constexpr uint32_t kConfirmations = 32;
  // Nodes so near to each other are of one step.
  static constexpr uint64_t kLeastDistance = 16;

  // Once, before all others. False where there is no memory.
  bool Create() { return (entries_ = MapArray<Entry>(kEntries)) != nullptr; }
  void Clear() {
    ClearArray(entries_, kEntries);
    votes_.store(0, std::memory_order_relaxed);
  }

  // What follows comes after a pause in which launches were not seen: the distance of a launch from
  // one before the pause is that of many steps.
  void BeginWindow() { ClearArray(entries_, kEntries); }

  // The first launch of a node, whose stack has this hash.
  void Add(uint64_t thread, uint64_t number, uint64_t hash) {
    Entry& entry = entries_[(hash ^ thread * 0x9E3779B97F4A7C15u) % kEntries];
    const uint64_t before = entry.number.exchange(number + 1, std::memory_order_relaxed);
    if (entry.hash.exchange(hash, std::memory_order_relaxed) != hash || before == 0) return;
    const uint64_t distance = number + 1 - before;
    if (before > number + 1 || distance < kLeastDistance || distance > kMostDistance) return;
    Vote(distance);
  }
  // 0 where it is not known.
  uint64_t Get() const {
    const uint64_t votes = votes_.load(std::memory_order_relaxed);
    return votes >> 32 >= kConfirmations ? votes & kMostDistance : 0;
  }

 private:
  static constexpr uint64_t kEntries = 1u << 13;
  static constexpr uint64_t kMostDistance = UINT32_MAX;
  static constexpr uint64_t kMostVotes = 4 * kConfirmations;

  struct Entry {
    std::atomic<uint64_t> hash;
    std::atomic<uint64_t> number;  // + 1; 0: free
  };

  // Votes for a distance. `votes_` has the leading one in its lower half, and its lead over all
  // others in the upper half.
  void Vote(uint64_t distance) {
    uint64_t votes = votes_.load(std::memory_order_relaxed);
    const uint64_t ahead = votes >> 32;
    uint64_t next = votes - (uint64_t{1} << 32);
    if (ahead == 0) next = uint64_t{1} << 32 | distance;
    if (ahead != 0 && (votes & kMostDistance) == distance) {
      if (ahead >= kMostVotes) return;
      next = votes + (uint64_t{1} << 32);
    }
    // Where two threads vote at once, one vote may be lost.
    votes_.compare_exchange_strong(votes, next, std::memory_order_relaxed);
  }

  Entry* entries_ = nullptr;
  std::atomic<uint64_t> votes_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_NODE_PERIOD_H_
