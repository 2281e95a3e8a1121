// Who switches CUPTI's callbacks of calls off: the last thread that leaves such a call, as it
// leaves. A thread that is in a call when its callbacks go off keeps the call's number for good
// (docs/measurements/launch_stacks.md#threads-that-keep-the-number-of-a-call).
//
//   kOff ──Begin──▶ kOn ──Ask──▶ kAsked ──▶ kSwitching ──▶ kOff
//                    ◀──TakeBack────┘ ▲────────┘ a thread entered a call meanwhile
//
// `Switch` is called with whether CUPTI's callbacks are to be on. Entered and Left on any thread,
// without a lock; the others on one at a time.
#ifndef UTLZ_INJECT_BASE_LAST_EXIT_H_
#define UTLZ_INJECT_BASE_LAST_EXIT_H_

#include <time.h>

#include <atomic>
#include <cstdint>

#include "inject/base/clock.h"

namespace utlz::agent {

class LastExit {
 public:
  // Callbacks are about to go on: threads that are in a call now are not counted.
  void Begin() {
    inside_.store((inside_.load() | kCountBits) + 1);
    state_.store(State::kOn);
  }
  // Callbacks are to go off.
  void Ask() { Change(State::kOn, State::kAsked); }
  // They are to stay on after all; false where somebody switches them off, or they are off.
  bool TakeBack() { return Change(State::kAsked, State::kOn); }
  // CUPTI was torn down.
  void Forget() { state_.store(State::kOff); }

  // `mark`: what CUPTI keeps for us from the begin of a call to its end; null where it keeps
  // nothing.
  void Entered(uint64_t* mark) {
    if (mark == nullptr) return;
    calls_.fetch_add(1, std::memory_order_relaxed);
    *mark = MarkOf(inside_.fetch_add(1));
  }
  // The last thread that leaves switches callbacks off, if that was asked for.
  template <typename Switch>
  void Left(uint64_t* mark, const Switch& switch_callbacks) {
    if (!IsLast(mark) || !Change(State::kAsked, State::kSwitching)) return;
    switch_callbacks(false);
    if (!inside()) return state_.store(State::kOff);
    // A thread entered a call meanwhile: its end has to be seen too.
    switch_callbacks(true);
    state_.store(State::kAsked);
  }
  // Switches callbacks off, although threads may be in calls. Does nothing unless Ask was called,
  // and nothing while another thread switches them off.
  template <typename Switch>
  void SwitchOff(const Switch& switch_callbacks) {
    if (!Change(State::kAsked, State::kSwitching)) return;
    switch_callbacks(false);
    state_.store(State::kOff);
  }
  // They are off afterwards: waits for the last thread to leave, for so long at most.
  template <typename Switch>
  void End(uint64_t patience_ns, const Switch& switch_callbacks) {
    Ask();
    if (!WaitUntilOff(patience_ns)) SwitchOff(switch_callbacks);
  }

  bool off() const { return state_.load() == State::kOff; }
  bool asked() const { return state_.load() == State::kAsked; }
  bool inside() const { return (inside_.load() & kCountBits) != 0; }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // Waits for so long at most. False where they are on still.
  bool WaitUntilOff(uint64_t patience_ns) const {
    constexpr timespec kPause{0, 50'000};
    const uint64_t end_ns = MonotonicNs() + patience_ns;
    while (!off() && MonotonicNs() < end_ns) nanosleep(&kPause, nullptr);
    return off();
  }

 private:
  enum class State : uint32_t { kOff, kOn, kAsked, kSwitching };
  static constexpr uint64_t kCountBits = (1u << 16) - 1;

  // Whether the thread leaves a call whose begin was seen, and no other one is in such a call.
  bool IsLast(uint64_t* mark) {
    if (mark == nullptr) return false;
    uint64_t inside = inside_.load();
    do {
      // Its begin was not seen, or callbacks went off and on again since.
      if (*mark != MarkOf(inside) || (inside & kCountBits) == 0) return false;
    } while (!inside_.compare_exchange_weak(inside, inside - 1));
    *mark = 0;
    return (inside & kCountBits) == 1;
  }
  bool Change(State from, State to) { return state_.compare_exchange_strong(from, to); }
  // Never 0, which CUPTI begins with: the first Begin comes before the first call.
  static uint64_t MarkOf(uint64_t inside) { return inside & ~kCountBits; }

  std::atomic<State> state_{State::kOff};
  // How many threads are in a call, in the lower bits; above them, how often Begin was called.
  std::atomic<uint64_t> inside_{0};
  std::atomic<uint64_t> calls_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_LAST_EXIT_H_
