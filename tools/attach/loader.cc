#include "tools/attach/loader.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tools/attach/load_attempt.h"
#include "tools/attach/preflight.h"
#include "tools/attach/python_loader.h"
#include "tools/attach/target/code_memory.h"
#include "tools/attach/thread_choice.h"

namespace utlz::attach {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSearchInterval{5};
constexpr milliseconds kReportInterval{1000};
// Each attempt stops a thread of the target for a moment, so their number is bounded: one for each
// `kTimePerAttempt` of the time to search, but at least `kFewestAttempts`.
constexpr int kFewestAttempts = 50;
constexpr milliseconds kTimePerAttempt{60};

// The signals by which a user ends a program, kept away while a target is in our hands.
class EndingSignalsBlocked {
 public:
  EndingSignalsBlocked() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &old_);
  }
  EndingSignalsBlocked(const EndingSignalsBlocked&) = delete;
  ~EndingSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

bool HasEnded(int pidfd) {
  pollfd event = {pidfd, POLLIN, 0};
  return poll(&event, 1, 0) > 0;
}

absl::Status Ended(pid_t pid) {
  return absl::NotFoundError(absl::StrCat("process ", pid, " ended"));
}

bool IsCancelled(const LoadOptions& options) {
  return options.is_cancelled && options.is_cancelled();
}

absl::Status Cancelled(pid_t pid) {
  return absl::CancelledError(absl::StrCat("interrupted; process ", pid, " was left as it was"));
}

bool WorthAnotherTry(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsOutOfRange(status);
}

// Where threads stood that must not be lent there: they are not stopped again for nothing.
class UnfitPlaces {
 public:
  void Add(const ThreadCandidate& candidate) { places_.insert(PlaceOf(candidate)); }
  bool Has(const ThreadCandidate& candidate) const { return places_.contains(PlaceOf(candidate)); }

 private:
  using Place = std::tuple<pid_t, int64_t, uint64_t, uint64_t>;
  static Place PlaceOf(const ThreadCandidate& candidate) {
    return {candidate.tid, candidate.call.number, candidate.call.stack_pointer,
            candidate.call.program_counter};
  }
  std::set<Place> places_;
};

absl::Status AttemptOnOwnThread(const LoadTarget& target, const ThreadCandidate& candidate,
                                const MemoryMap& map, const CodeMemory& code, LoadResult& result) {
  CallInProgress call;
  std::future<absl::Status> attempt = std::async(
      std::launch::async, [&] { return AttemptLoad(target, candidate, map, code, call, result); });
  while (attempt.wait_for(kReportInterval) != std::future_status::ready) {
    const auto elapsed = call.Elapsed();
    if (elapsed && target.options.on_waiting) target.options.on_waiting(*elapsed);
  }
  return attempt.get();
}

// What the preflight saw may have changed: the process may have been stopped since, or another tool
// may have been quicker.
absl::Status CheckAnew(pid_t pid) {
  const auto facts = ReadProcessFacts(pid);
  return facts.ok() ? CheckFacts(*facts, ReadPermissions()) : facts.status();
}

int MostAttempts(const LoadOptions& options) {
  return std::max(kFewestAttempts, static_cast<int>(options.search_time / kTimePerAttempt));
}

// `also_tried` says what failed before this, for the person who reads it all.
absl::Status Search(const LoadTarget& target, const std::string& also_tried, LoadResult& result) {
  const Deadline deadline = steady_clock::now() + target.options.search_time;
  const int most_attempts = MostAttempts(target.options);
  const RemoteMemory memory(target.pid);
  ThreadCensus census;
  UnfitPlaces unfit;
  absl::Status last_failure;
  do {
    if (HasEnded(target.pidfd)) return Ended(target.pid);
    const auto map = MemoryMap::Read(target.pid);
    if (!map.ok()) return HasEnded(target.pidfd) ? Ended(target.pid) : map.status();
    const CodeMemory code(memory, *map);
    for (const ThreadCandidate& candidate :
         FindCandidates(target.pid, code, *map, target.c_library, census)) {
      if (HasEnded(target.pidfd)) break;
      if (unfit.Has(candidate)) continue;
      absl::Status status = AttemptOnOwnThread(target, candidate, *map, code, result);
      if (!WorthAnotherTry(status)) return status;
      if (absl::IsOutOfRange(status)) unfit.Add(candidate);
      last_failure = std::move(status);
      if (steady_clock::now() >= deadline || result.attempts >= most_attempts) break;
    }
    if (HasEnded(target.pidfd)) return Ended(target.pid);
    if (IsCancelled(target.options)) return Cancelled(target.pid);
    std::this_thread::sleep_for(kSearchInterval);
    if (absl::Status status = CheckAnew(target.pid); !status.ok() && !WorthAnotherTry(status)) {
      return status;
    }
  } while (steady_clock::now() < deadline && result.attempts < most_attempts);
  const std::string detail = last_failure.ok() ? "" : absl::StrCat("; ", last_failure.message());
  const std::string effort =
      result.attempts >= most_attempts
          ? absl::StrCat("in ", result.attempts, " attempts")
          : absl::StrCat("within ", target.options.search_time.count(), " ms");
  return absl::UnavailableError(
      absl::StrCat("no thread of process ", target.pid, " could be lent ", effort, " (",
                   census.ToString(), detail, ")", also_tried,
                   "; it was left as it was; try again, or start it with `utlz run --preload`"));
}

// One tool at a time loads into a process. The lock goes with the descriptor.
absl::StatusOr<UniqueFd> LockProcess(pid_t pid, const LoadOptions& options) {
  UniqueFd memory(open(absl::StrCat("/proc/", pid, "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  // The preflight says why that is.
  if (!memory.valid()) return memory;
  const Deadline deadline = steady_clock::now() + options.search_time;
  while (flock(memory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (steady_clock::now() >= deadline) {
      return absl::UnavailableError(absl::StrCat("another utlz is loading its agent into process ",
                                                 pid, "; try again once it has"));
    }
    if (IsCancelled(options)) return Cancelled(pid);
    std::this_thread::sleep_for(kSearchInterval);
  }
  return memory;
}

// What the process's Python answered to the request to load the library, if it was asked.
absl::Status AskPython(PythonLoader& python, const ProcessFacts& facts, const LoadOptions& options,
                       LoadResult& result) {
  if (options.python_patience == milliseconds(0)) return absl::NotFoundError("not asked");
  // What the filter does to the calls that the script makes can be read from a stopped thread only.
  if (facts.seccomp == SeccompMode::kFilter) return absl::NotFoundError("not asked");
  return python.Load(result);
}

}  // namespace

absl::StatusOr<LoadResult> LoadIntoProcess(pid_t pid, const LibraryFile& library,
                                           const LoadOptions& options) {
  if (options.parameters.size() >= kMaxAttachParameterBytes ||
      options.parameters.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("the library's parameters are too long or hold a NUL");
  }
  const EndingSignalsBlocked signals_blocked;
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid() && errno == ENOSYS) {
    return absl::FailedPreconditionError("attaching needs Linux 5.6 or later");
  }
  const auto lock = LockProcess(pid, options);
  if (!lock.ok()) return lock.status();
  auto preflight = Preflight(pid);
  if (!preflight.ok()) return preflight.status();
  if (!pidfd.valid()) return absl::NotFoundError(absl::StrCat("there is no process ", pid));
  LoadResult result;
  const LoadTarget target = {
      pid,     pidfd.get(), preflight->facts.seccomp == SeccompMode::kFilter, preflight->c_library,
      library, options};
  PythonLoader python(pid, pidfd.get(), library, options);
  absl::Status status = AskPython(python, preflight->facts, options, result);
  if (!status.ok() && !absl::IsAborted(status)) {
    const std::string also_tried =
        absl::IsNotFound(status) ? "" : absl::StrCat(", and its Python 3.14 ", status.message());
    status = Search(target, also_tried, result);
  }
  if (!status.ok()) return status;
  result.facts = std::move(preflight->facts);
  return result;
}

}  // namespace utlz::attach
