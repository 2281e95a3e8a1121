#include "tools/attach/load_attempt.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "tools/attach/seccomp_filter.h"
#include "tools/attach/stack_scan.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/unwind/call_chain.h"
#include "tools/ending/ending_watch.h"

namespace utlz::attach {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxErrorBytes = 512;
// Once asked to stop, a thread will, and its wait may then end with EINTR, which can be mended only
// while it is stopped. One that is merely not scheduled is worth waiting for: it does not run
// anyway.
constexpr std::chrono::seconds kStopPatience{1};

absl::Status CheckTime(Deadline deadline) {
  if (steady_clock::now() < deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("a thread stood still for longer than --stop-limit allows");
}

// A name under which the program will hardly look for a library itself: the loader remembers it,
// and would answer with ours.
std::string LibraryPath(int descriptor) { return absl::StrCat("/proc/self/fd/../fd/", descriptor); }

class Attempt {
 public:
  Attempt(const LoadTarget& target, const ThreadCandidate& candidate, const MemoryMap& map,
          const CodeMemory& code, CallInProgress& call)
      : target_(target),
        candidate_(candidate),
        map_(map),
        code_(code),
        call_(call),
        memory_(target.pid) {}

  absl::Status Run(LoadResult& result) {
    // Without us the thread would come back from dlopen to nowhere.
    const EndingHeldOff held_off;
    if (absl::Status status = Prepare(); !status.ok()) return status;
    auto thread = TracedThread::Seize(target_.pid, candidate_.tid);
    if (!thread.ok()) return thread.status();
    if (absl::Status status = thread->Stop(steady_clock::now() + kStopPatience); !status.ok()) {
      return status;
    }
    const auto stop_time = steady_clock::now();
    deadline_ = stop_time + target_.options.stop_limit;
    ++result.attempts;
    const auto snapshot = CheckStopped(*thread);
    if (!snapshot.ok()) {
      absl::Status detached = DetachUnchanged(*thread);
      return detached.ok() ? snapshot.status() : detached;
    }
    TargetStaging staging(target_.pid, candidate_, *snapshot, *thread);
    absl::Status status = thread->BlockSignals();
    if (status.ok()) status = Stage(staging);
    if (status.ok()) status = CheckTime(deadline_);
    const auto call_time = steady_clock::now();
    if (status.ok()) {
      call_.Begin();
      status = LoadAndKeepErrno(staging);
    }
    absl::Status undone = Finish(*thread, *snapshot, staging, status.ok());
    const auto end_time = steady_clock::now();
    if (!status.ok()) return status;
    if (!undone.ok()) return undone;
    result.thread_id = candidate_.tid;
    result.socket = staging.TakeToolSocket();
    result.stopped_before_call =
        std::chrono::duration_cast<std::chrono::microseconds>(call_time - stop_time);
    result.stopped = std::chrono::duration_cast<std::chrono::microseconds>(end_time - stop_time);
    return absl::OkStatus();
  }

 private:
  // What takes time and needs no stopped thread.
  absl::Status Prepare() {
    auto file = target_.library.CreateMemoryFile(kAgentFileName);
    if (!file.ok()) return file.status();
    memory_file_ = *std::move(file);
    // Its result counts for nothing, since the thread runs: it is for `code_` to know the way.
    FollowCallChain(code_, map_, WaitingRegisters(candidate_.call), Deadline::max());
    return absl::OkStatus();
  }

  // Whether the thread still stands where it was seen, with a clear stack.
  absl::StatusOr<ThreadSnapshot> CheckStopped(const TracedThread& thread) {
    auto snapshot = thread.Snapshot();
    if (!snapshot.ok()) return snapshot;
    const Registers& registers = snapshot->registers;
    if (!IsInterruptedWait(registers, candidate_.call)) {
      return absl::UnavailableError("the thread's wait had just ended");
    }
    const absl::Span<const uint8_t> expected = SyscallInstruction();
    std::vector<uint8_t> instruction(expected.size());
    if (!memory_.Read(WaitInstruction(candidate_.call), absl::MakeSpan(instruction)) ||
        instruction != std::vector<uint8_t>(expected.begin(), expected.end())) {
      return absl::UnavailableError("the thread entered the kernel in an unknown way");
    }
    const StackVerdict verdict = JudgeStack(code_, map_, target_.c_library, registers,
                                            deadline_ - target_.options.stop_limit / 2);
    if (verdict != StackVerdict::kClear) {
      return absl::OutOfRangeError(
          absl::StrCat("thread ", candidate_.tid, " is ", Describe(verdict)));
    }
    if (target_.has_seccomp_filter) {
      const auto filters = ReadSeccompFilters(candidate_.tid);
      if (!filters.ok()) return filters.status();
      if (absl::Status status = CheckSeccompFilters(*filters); !status.ok()) return status;
    }
    if (absl::Status status = CheckTime(deadline_); !status.ok()) return status;
    return snapshot;
  }

  absl::Status DetachUnchanged(TracedThread& thread) {
    auto snapshot = thread.Snapshot();
    if (!snapshot.ok()) return snapshot.status();
    snapshot->registers =
        ResumedWait(snapshot->registers, candidate_.call, MayRestart(candidate_.call));
    return thread.Restore(*snapshot);
  }

  absl::Status Stage(TargetStaging& staging) {
    if (absl::Status status = staging.MapMemory(); !status.ok()) return status;
    if (absl::Status status = CheckTime(deadline_); !status.ok()) return status;
    if (absl::Status status = staging.MakeSockets(target_.pidfd); !status.ok()) return status;
    if (absl::Status status = CheckTime(deadline_); !status.ok()) return status;
    if (absl::Status status = staging.SendLibrary(memory_file_.get()); !status.ok()) {
      return status;
    }
    AttachConfig config = kEmptyAttachConfig;
    config.loaded_by_attach = 1;
    config.control_socket = staging.target_socket().number;
    config.control_socket_device = staging.target_socket().device;
    config.control_socket_inode = staging.target_socket().inode;
    target_.options.parameters.copy(config.parameters, sizeof(config.parameters) - 1);
    return target_.library.Finish(memory_file_, config);
  }

  // dlopen sets errno, which belongs to the thread: it gets its old one back.
  absl::Status LoadAndKeepErrno(TargetStaging& staging) {
    const auto errno_address = staging.Call(target_.c_library.errno_location, 0, 0);
    if (!errno_address.ok()) return errno_address.status();
    const auto saved_errno = memory_.ReadValue<int32_t>(*errno_address);
    absl::Status status = Load(staging);
    if (saved_errno) {
      memory_.Write(*errno_address,
                    {reinterpret_cast<const uint8_t*>(&*saved_errno), sizeof(*saved_errno)});
    }
    return status;
  }

  absl::Status Load(TargetStaging& staging) {
    const auto path = staging.WriteText(LibraryPath(staging.library().number));
    if (!path.ok()) return path.status();
    const auto handle = staging.Call(target_.c_library.dlopen, *path, RTLD_NOW | RTLD_LOCAL);
    if (!handle.ok()) return handle.status();
    if (*handle != 0) return absl::OkStatus();
    // Asking for the reason also takes it back: the program would find it at its next dlerror.
    const auto reason = staging.Call(target_.c_library.dlerror, 0, 0);
    if (!reason.ok()) return reason.status();
    return absl::AbortedError(
        absl::StrCat("the target's loader refused the library: ",
                     PrintableText(memory_.ReadText(*reason, kMaxErrorBytes), kMaxErrorBytes)));
  }

  absl::Status Finish(TracedThread& thread, const ThreadSnapshot& snapshot, TargetStaging& staging,
                      bool loaded) {
    // Also where something could not be removed, the thread has to get its own state back.
    absl::Status removed = staging.Remove(loaded);
    ThreadSnapshot restored = snapshot;
    restored.registers =
        ResumedWait(snapshot.registers, candidate_.call, MayRestart(candidate_.call));
    if (absl::Status status = thread.Restore(restored); !status.ok()) return status;
    return removed;
  }

  const LoadTarget& target_;
  const ThreadCandidate& candidate_;
  const MemoryMap& map_;
  const CodeMemory& code_;
  CallInProgress& call_;
  RemoteMemory memory_;
  UniqueFd memory_file_;
  Deadline deadline_;
};

}  // namespace

absl::Status AttemptLoad(const LoadTarget& target, const ThreadCandidate& candidate,
                         const MemoryMap& map, const CodeMemory& code, CallInProgress& call,
                         LoadResult& result) {
  return Attempt(target, candidate, map, code, call).Run(result);
}

}  // namespace utlz::attach
