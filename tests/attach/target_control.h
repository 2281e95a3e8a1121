// What a target program and its test share: one page of memory at a fixed address in the target,
// also for the probe library inside it. The test needs no system call of the target to watch it.
#ifndef UTLZ_TESTS_ATTACH_TARGET_CONTROL_H_
#define UTLZ_TESTS_ATTACH_TARGET_CONTROL_H_

#include <atomic>
#include <cstdint>

namespace utlz::attach {

// Where the target maps the descriptor that it is given as its second argument.
inline constexpr uintptr_t kControlAddress = 0x200000000000;

struct TargetControl {
  std::atomic<uint32_t> ready;     // the target has reached its hazard
  std::atomic<int32_t> process_id;  // what to attach to, as the test counts; 0: the target itself
  std::atomic<uint32_t> stop;      // the test asks it to end
  std::atomic<uint64_t> progress;  // counts up while the target works
  std::atomic<uint32_t> allow_interrupt;  // a wait may end with EINTR
  std::atomic<uint32_t> reused_numbers;    // the target has reused all descriptor numbers
  std::atomic<uint32_t> futex;     // what the futex target waits on
  std::atomic<uint32_t> entered_constructor;
  std::atomic<uint32_t> hold_constructor;  // the probe's constructor waits while this is set
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline TargetControl& Control() { return *reinterpret_cast<TargetControl*>(kControlAddress); }

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_ATTACH_TARGET_CONTROL_H_
