#include "tools/attach/traced_thread.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz::attach {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// glibc's SIGSETXID: a thread that changes user ids waits until every other has handled it.
constexpr int kSetUserIdsSignal = 33;
constexpr size_t kSignalSetBytes = 8;
constexpr size_t kMaxVectorStateBytes = 64 << 10;
// Until now a stop is expected any moment; later it may take long.
constexpr milliseconds kEagerWait{50};

constexpr uint64_t SignalBit(int signal) { return uint64_t{1} << (signal - 1); }

constexpr uint64_t kBlockedSignals =
    ~(SignalBit(SIGSEGV) | SignalBit(SIGBUS) | SignalBit(SIGILL) | SignalBit(SIGFPE) |
      SignalBit(SIGTRAP) | SignalBit(SIGSYS) | SignalBit(kSetUserIdsSignal));

void SleepMicroseconds(int64_t microseconds) {
  const timespec duration = {0, microseconds * 1000};
  nanosleep(&duration, nullptr);
}

template <typename Integer>
void* AsPointer(Integer value) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(value));
}

}  // namespace

absl::StatusOr<TracedThread> TracedThread::Seize(pid_t pid, pid_t tid) {
  if (ptrace(PTRACE_SEIZE, tid, nullptr, AsPointer(PTRACE_O_TRACESYSGOOD)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot trace thread ", tid));
  }
  return TracedThread(pid, tid);
}

TracedThread::TracedThread(TracedThread&& other) noexcept
    : pid_(other.pid_),
      tid_(other.tid_),
      traced_(std::exchange(other.traced_, false)),
      resume_frame_(other.resume_frame_),
      held_signals_(std::move(other.held_signals_)) {}

TracedThread::~TracedThread() {
  if (traced_) ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
}

absl::Status TracedThread::Gone() const {
  return absl::NotFoundError(
      absl::StrCat("process ", pid_, " or its thread ", tid_, " ended during the attach"));
}

TracedThread::StopEvent TracedThread::Classify(int wait_status) const {
  if (!WIFSTOPPED(wait_status)) return {StopKind::kGone};
  const int signal = WSTOPSIG(wait_status);
  if (wait_status >> 16 == PTRACE_EVENT_STOP) return {StopKind::kEvent, signal};
  if (signal != (SIGTRAP | 0x80)) return {StopKind::kSignal, signal};
  __ptrace_syscall_info info = {};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tid_, AsPointer(sizeof(info)), &info) < 0) {
    return {StopKind::kGone};
  }
  return {info.op == PTRACE_SYSCALL_INFO_EXIT ? StopKind::kSyscallExit : StopKind::kSyscallEntry};
}

TracedThread::StopEvent TracedThread::Wait() {
  int status = 0;
  pid_t result = 0;
  do {
    result = waitpid(tid_, &status, __WALL);
  } while (result < 0 && errno == EINTR);
  return result == tid_ ? Classify(status) : StopEvent{StopKind::kGone};
}

std::optional<TracedThread::StopEvent> TracedThread::WaitUntil(Deadline deadline) {
  const auto start = steady_clock::now();
  for (;;) {
    int status = 0;
    const pid_t result = waitpid(tid_, &status, __WALL | WNOHANG);
    if (result == tid_) return Classify(status);
    if (result < 0 && errno != EINTR) return StopEvent{StopKind::kGone};
    const auto now = steady_clock::now();
    if (now >= deadline) return std::nullopt;
    SleepMicroseconds(now - start < kEagerWait ? 5 : 1000);
  }
}

absl::Status TracedThread::Stop(Deadline deadline) {
  if (ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) != 0) return Gone();
  for (;;) {
    const auto stop = WaitUntil(deadline);
    if (!stop) {
      return absl::DeadlineExceededError(absl::StrCat(
          "thread ", tid_, " did not stop in time: it is frozen or waits for a device"));
    }
    if (stop->kind == StopKind::kGone) return Gone();
    if (stop->kind == StopKind::kEvent && stop->signal == SIGTRAP) return absl::OkStatus();
    if (stop->kind == StopKind::kEvent) {
      return absl::FailedPreconditionError(absl::StrCat(
          "process ", pid_, " was stopped by a signal meanwhile; resume it (kill -CONT ", pid_,
          ") and attach again"));
    }
    // A signal was about to be delivered: let it, then stop.
    if (ptrace(PTRACE_CONT, tid_, nullptr, AsPointer(stop->signal)) != 0) return Gone();
  }
}

absl::StatusOr<Registers> TracedThread::ReadRegisters() const {
  Registers registers = {};
  iovec vector = {&registers, sizeof(registers)};
  if (ptrace(PTRACE_GETREGSET, tid_, AsPointer(NT_PRSTATUS), &vector) != 0) return Gone();
  if (vector.iov_len != sizeof(registers)) {
    return absl::FailedPreconditionError("the thread runs 32-bit code; only 64-bit is supported");
  }
  return registers;
}

bool TracedThread::WriteRegisters(const Registers& registers) const {
  Registers copy = registers;
  iovec vector = {&copy, sizeof(copy)};
  return ptrace(PTRACE_SETREGSET, tid_, AsPointer(NT_PRSTATUS), &vector) == 0;
}

absl::StatusOr<ThreadSnapshot> TracedThread::Snapshot() const {
  ThreadSnapshot snapshot;
  auto registers = ReadRegisters();
  if (!registers.ok()) return registers.status();
  snapshot.registers = *registers;
  snapshot.vector_state.resize(kMaxVectorStateBytes);
  iovec vector = {snapshot.vector_state.data(), snapshot.vector_state.size()};
  if (ptrace(PTRACE_GETREGSET, tid_, AsPointer(kVectorRegset), &vector) != 0) {
    return absl::ErrnoToStatus(errno, "cannot save the thread's vector registers");
  }
  snapshot.vector_state.resize(vector.iov_len);
  if (ptrace(PTRACE_GETSIGMASK, tid_, AsPointer(kSignalSetBytes), &snapshot.signal_mask) != 0) {
    return absl::ErrnoToStatus(errno, "cannot save the thread's signal mask");
  }
  return snapshot;
}

absl::Status TracedThread::BlockSignals() {
  uint64_t mask = kBlockedSignals;
  if (ptrace(PTRACE_SETSIGMASK, tid_, AsPointer(kSignalSetBytes), &mask) != 0) return Gone();
  return absl::OkStatus();
}

absl::Status TracedThread::HoldOrPass(int signal, int* passed_signal) {
  *passed_signal = 0;
  if (signal == kSetUserIdsSignal) {
    *passed_signal = signal;
    return absl::OkStatus();
  }
  siginfo_t info = {};
  if (ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &info) != 0) return Gone();
  if (info.si_code > 0) {
    return absl::DataLossError(absl::StrCat("the call in the target raised ", strsignal(signal)));
  }
  held_signals_.push_back(signal);
  return absl::OkStatus();
}

absl::StatusOr<TracedThread::StopKind> TracedThread::RunToSyscallStop() {
  int passed_signal = 0;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, tid_, nullptr, AsPointer(passed_signal)) != 0) return Gone();
    const StopEvent stop = Wait();
    passed_signal = 0;
    switch (stop.kind) {
      case StopKind::kSyscallEntry:
      case StopKind::kSyscallExit:
        return stop.kind;
      case StopKind::kGone:
        return Gone();
      case StopKind::kEvent:
        // A group stop: the other threads stop, and this one too as soon as it is let go.
        break;
      case StopKind::kSignal:
        if (absl::Status status = HoldOrPass(stop.signal, &passed_signal); !status.ok()) {
          return status;
        }
        break;
    }
  }
}

absl::StatusOr<Registers> TracedThread::RunToSyscall(uint64_t instruction_address, int64_t number) {
  for (;;) {
    const auto stop = RunToSyscallStop();
    if (!stop.ok()) return stop.status();
    if (*stop != StopKind::kSyscallEntry) continue;
    auto registers = ReadRegisters();
    if (!registers.ok() || IsRequestedSyscall(*registers, instruction_address, number) ||
        TakeBackSyscall(tid_, *registers, instruction_address, number)) {
      return registers;
    }
  }
}

absl::StatusOr<int64_t> TracedThread::Syscall(const ThreadSnapshot& original,
                                              uint64_t instruction_address, int64_t number,
                                              const SyscallArguments& arguments,
                                              const std::function<bool()>& is_still_wanted) {
  if (!WriteRegisters(SyscallRegisters(original.registers, instruction_address, number, arguments,
                                       resume_frame_))) {
    return Gone();
  }
  const auto entry = RunToSyscall(instruction_address, number);
  if (!entry.ok()) return entry.status();
  const bool skipped = is_still_wanted && !is_still_wanted();
  if (skipped && !SkipSyscall(tid_, *entry)) return Gone();
  const auto stop = RunToSyscallStop();
  if (!stop.ok()) return stop.status();
  if (skipped) return 0;
  const auto registers = ReadRegisters();
  if (!registers.ok()) return registers.status();
  return SyscallResult(*registers);
}

absl::StatusOr<uint64_t> TracedThread::Call(const ThreadSnapshot& original,
                                            uint64_t trampoline_address, uint64_t function,
                                            uint64_t first, uint64_t second, uint64_t stack_top) {
  if (!WriteRegisters(CallRegisters(original.registers, trampoline_address, function, first, second,
                                    stack_top, resume_frame_))) {
    return Gone();
  }
  const auto registers =
      RunToSyscall(trampoline_address + TrampolineCode().syscall_offset, kCallReturnSyscall);
  if (!registers.ok()) return registers.status();
  if (!SkipSyscall(tid_, *registers)) return Gone();
  const auto exit = RunToSyscallStop();
  if (!exit.ok()) return exit.status();
  return CallResult(*registers);
}

absl::Status TracedThread::Restore(const ThreadSnapshot& snapshot) {
  // The thread stands at a system call's exit. One more interrupt takes it, before it executes any
  // instruction, to an event stop: only from there does the kernel restart an interrupted call,
  // and only there does every architecture take all registers.
  const auto at_exit = ReadRegisters();
  if (!at_exit.ok()) return at_exit.status();
  if (!WriteRegisters(BeforeResumedWait(*at_exit, snapshot.registers))) return Gone();
  if (ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) != 0 ||
      ptrace(PTRACE_CONT, tid_, nullptr, nullptr) != 0) {
    return Gone();
  }
  const StopEvent stop = Wait();
  uint64_t mask = snapshot.signal_mask;
  std::vector<uint8_t> vector_state = snapshot.vector_state;
  iovec vector = {vector_state.data(), vector_state.size()};
  if (stop.kind == StopKind::kGone ||
      ptrace(PTRACE_SETSIGMASK, tid_, AsPointer(kSignalSetBytes), &mask) != 0 ||
      ptrace(PTRACE_SETREGSET, tid_, AsPointer(kVectorRegset), &vector) != 0 ||
      !WriteRegisters(snapshot.registers)) {
    return Gone();
  }
  return Detach();
}

absl::Status TracedThread::Detach() {
  traced_ = false;
  if (ptrace(PTRACE_DETACH, tid_, nullptr, nullptr) != 0) return Gone();
  for (const int signal : held_signals_) syscall(SYS_tgkill, pid_, tid_, signal);
  held_signals_.clear();
  return absl::OkStatus();
}

bool TracedThread::PokeWord(uint64_t address, uint64_t word) const {
  return ptrace(PTRACE_POKEDATA, tid_, AsPointer(address), AsPointer(word)) == 0;
}

}  // namespace utlz::attach
