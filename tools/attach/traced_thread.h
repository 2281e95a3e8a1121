// One stopped thread of another process, and what can be done with it: run a system call, run a
// function, put everything back.
//
// All calls must come from the thread that called Seize(): the kernel ties tracing to a thread, not
// to a process. When that thread ends, the kernel lets go of a target that could not be stopped,
// so an attempt is best made on a thread of its own.
#ifndef UTLZ_TOOLS_ATTACH_TRACED_THREAD_H_
#define UTLZ_TOOLS_ATTACH_TRACED_THREAD_H_

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

using Deadline = std::chrono::steady_clock::time_point;

class TracedThread {
 public:
  // Begins to trace the thread without stopping it.
  static absl::StatusOr<TracedThread> Seize(pid_t pid, pid_t tid);

  TracedThread(TracedThread&& other) noexcept;
  TracedThread(const TracedThread&) = delete;
  ~TracedThread();

  // Stops the thread. DeadlineExceeded if it does not stop in time (frozen, or in an
  // uninterruptible call): the thread then runs on, and only this tracer's end lets go of it.
  // FailedPrecondition if it stands in a group stop (SIGSTOP).
  absl::Status Stop(Deadline deadline);

  // The state of the stopped thread, to give back to Restore().
  absl::StatusOr<ThreadSnapshot> Snapshot() const;

  // From here on the thread runs for us: blocks every signal but those that a fault raises and the
  // one by which the C library changes user ids, for which other threads may be waiting.
  absl::Status BlockSignals();

  // The frame by which the trampoline resumes the thread if this tracer dies.
  void SetResumeFrame(uint64_t resume_frame) { resume_frame_ = resume_frame; }

  // Executes one system call at `instruction_address` and returns its result (-errno on failure).
  // `is_still_wanted`, if given, is asked when the thread is about to enter the kernel; if it says
  // no, the call is skipped, and the result is 0.
  absl::StatusOr<int64_t> Syscall(const ThreadSnapshot& original, uint64_t instruction_address,
                                  int64_t number, const SyscallArguments& arguments,
                                  const std::function<bool()>& is_still_wanted = nullptr);

  // Calls function(first, second) through the trampoline and awaits its return, however long it
  // takes. DataLoss if it raised a fault: the thread then stands there and can be restored, but
  // what the function had begun is left undone.
  absl::StatusOr<uint64_t> Call(const ThreadSnapshot& original, uint64_t trampoline_address,
                                uint64_t function, uint64_t first, uint64_t second,
                                uint64_t stack_top);

  // Puts mask, vector state and registers back, and lets go. Signals that came meanwhile are
  // delivered then.
  absl::Status Restore(const ThreadSnapshot& snapshot);
  // Lets go of a stopped thread that has not been changed.
  absl::Status Detach();

  // Puts 8 bytes into the target, also where it may not write itself.
  bool PokeWord(uint64_t address, uint64_t word) const;

 private:
  enum class StopKind { kSyscallEntry, kSyscallExit, kEvent, kSignal, kGone };
  struct StopEvent {
    StopKind kind;
    int signal = 0;
  };

  TracedThread(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}

  // Sleeps in the kernel until the thread stops or ends: each stop that is noticed late is time
  // that the thread stands still.
  StopEvent Wait();
  // The same, but gives up at the deadline.
  std::optional<StopEvent> WaitUntil(Deadline deadline);
  StopEvent Classify(int wait_status) const;
  // Lets the thread run to its next system call stop, keeping signals away from it.
  absl::StatusOr<StopKind> RunToSyscallStop();
  // Lets it run on to the entry of one particular system call, and returns its registers there.
  absl::StatusOr<Registers> RunToSyscall(uint64_t instruction_address, int64_t number);
  absl::Status HoldOrPass(int signal, int* passed_signal);
  absl::StatusOr<Registers> ReadRegisters() const;
  bool WriteRegisters(const Registers& registers) const;
  absl::Status Gone() const;

  pid_t pid_;
  pid_t tid_;
  bool traced_ = true;
  uint64_t resume_frame_ = 0;
  std::vector<int> held_signals_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TRACED_THREAD_H_
