// Calls into a communication library, from the threads that make them to the one that encodes them:
// a bounded queue, many in, one out. No lock, no allocation; what finds no room is counted.
#ifndef UTLZ_INJECT_RECORD_CALL_QUEUE_H_
#define UTLZ_INJECT_RECORD_CALL_QUEUE_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

template <typename Event>
class CallQueue {
 public:
  static constexpr uint64_t kSlots = 1 << 14;  // an agent empties it each second

  bool Create() {
    slots_ = MapArray<Slot>(kSlots);
    return slots_ != nullptr;
  }

  // Any thread.
  void Push(const Event& event) {
    uint64_t position = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[position % kSlots];
      const uint64_t turn = slot.turn.load(std::memory_order_acquire);
      const uint64_t free = 2 * (position / kSlots);
      if (turn < free) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      if (turn > free) {
        position = tail_.load(std::memory_order_relaxed);
      } else if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        slot.event = event;
        slot.turn.store(free + 1, std::memory_order_release);
        return;
      }
    }
  }

  // One thread at a time. False where nothing more has come.
  bool Pop(Event* event) {
    Slot& slot = slots_[head_ % kSlots];
    const uint64_t filled = 2 * (head_ / kSlots) + 1;
    if (slot.turn.load(std::memory_order_acquire) != filled) return false;
    *event = slot.event;
    slot.turn.store(filled + 1, std::memory_order_release);
    ++head_;
    return true;
  }

  // Since this was last asked.
  uint64_t TakeLost() { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<uint64_t> turn;  // twice the laps done, one more while it is filled
    Event event;
  };

  Slot* slots_ = nullptr;
  std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> lost_{0};
  uint64_t head_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_CALL_QUEUE_H_
