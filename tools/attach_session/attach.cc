#include "tools/attach_session/attach.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/sampling/library_search.h"
#include "tools/attach/process_facts.h"
#include "tools/attach_session/attached_process.h"
#include "tools/attach_session/server_processes.h"
#include "tools/run/agent_library.h"

namespace utlz {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookInterval(20);
// Silence that is worth a word.
constexpr milliseconds kSilence(3000);
constexpr milliseconds kSleepPatience(5000);

void Say(const std::string& sentence) { std::fprintf(stderr, "utlz: %s\n", sentence.c_str()); }

int Fail(const absl::Status& status) {
  Say(std::string(status.message()));
  return 1;
}

// The signals that end a recording, kept for TakeSignal().
sigset_t BlockEndingSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a reader of our report that has gone must not keep agents awake
  return ending;
}

// Whether one of them came within `wait`.
bool TakeSignal(const sigset_t& ending, milliseconds wait) {
  const timespec time = {static_cast<time_t>(wait.count() / 1000),
                         static_cast<long>(wait.count() % 1000 * 1'000'000)};
  return sigtimedwait(&ending, nullptr, &time) > 0;
}

// Whether one of them has come; it stays there for TakeSignal().
bool SignalIsPending(const sigset_t& ending) {
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&ending, signal) == 1 && sigismember(&pending, signal) == 1) return true;
  }
  return false;
}

absl::StatusOr<UniqueFd> OpenNamedCupti(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid()) return file;
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ", which --cupti names, cannot be opened"));
}

// For processes that have none.
UniqueFd OpenFoundCupti() {
  for (const std::string& path : FindCupti(UserLibrarySearch("", "")).paths) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid()) return file;
  }
  return UniqueFd();
}

std::vector<std::string> CommandLine(const AttachOptions& options) {
  std::vector<std::string> words = {"utlz", "attach"};
  for (const pid_t pid : options.pids) words.push_back(absl::StrCat(pid));
  return words;
}

SessionOptions MakeSessionOptions(const AttachOptions& options, const std::string& name) {
  SessionOptions session = MakeSessionOptions(options.recording, name);
  session.command = CommandLine(options);
  session.attached = true;
  return session;
}

// What the profile's name begins with.
std::string NameOf(pid_t pid) {
  const auto facts = attach::ReadProcessFacts(pid);
  return facts.ok() ? absl::StrCat(facts->name, "-", pid) : absl::StrCat(pid);
}

std::vector<pid_t> EachOnce(const std::vector<pid_t>& pids) {
  std::vector<pid_t> once;
  for (const pid_t pid : pids) {
    if (std::find(once.begin(), once.end(), pid) == once.end()) once.push_back(pid);
  }
  return once;
}

// The number of a server's first process is easily had, but its workers do the work.
std::string OthersOfServer(const std::vector<pid_t>& pids) {
  for (const pid_t other : ServerProcesses(pids)) {
    if (std::find(pids.begin(), pids.end(), other) != pids.end()) continue;
    return absl::StrCat("process ", other, " of the same server uses CUDA too, which --all takes");
  }
  return "";
}

class Recording {
 public:
  Recording(const AttachOptions& options, Session& session, const sigset_t& ending)
      : options_(options), session_(session), ending_(ending) {}

  // Processes that cannot be attached to are named and left out.
  void AttachTo(const std::vector<pid_t>& pids, const AttachMeans& means) {
    for (const pid_t pid : pids) {
      if (means.is_cancelled()) return;
      auto process = AttachedProcess::Attach(pid, means, session_);
      if (!process.ok()) {
        Say(std::string(process.status().message()));
        failures_.push_back(std::string(process.status().message()));
        continue;
      }
      Say(absl::StrCat("process ", pid, " (", process->name(), "): ", process->state(), ", ",
                       process->way()));
      if (options_.recording.nvtx) TellOfRanges(*process);
      processes_.push_back(*std::move(process));
    }
  }

  // Until the duration is over, a signal comes, or every process has ended.
  void Record() {
    const auto begin = steady_clock::now();
    const auto end = begin + milliseconds(options_.duration_ms);
    bool silence_told = false;
    while (steady_clock::now() < end && !TakeSignal(ending_, kLookInterval)) {
      const SessionProgress progress = session_.Progress();
      TellKernels(progress.launches);
      if (!kernels_told_ && !silence_told && steady_clock::now() > begin + kSilence) {
        silence_told = true;
        const std::string others = OthersOfServer(options_.pids);
        Say(absl::StrCat("no kernel was seen yet: the processes launch none",
                         others.empty() ? "" : ", and ", others, "; still waiting"));
      }
      if (progress.agents >= processes_.size() && progress.live_agents == 0) {
        return Say("every process has ended");
      }
    }
  }

  // What the report has to say of its own limits.
  std::vector<std::string> Notices() const {
    std::vector<std::string> notices = {
        "Attached to running processes: what they did before is not in here."};
    for (const std::string& reason : without_ranges_) {
      notices.push_back(absl::StrCat("NVTX: ", reason, "."));
    }
    for (const std::string& failure : failures_) {
      notices.push_back(absl::StrCat("Not attached: ", failure, "."));
    }
    const std::string others = kernels_told_ || options_.all ? "" : OthersOfServer(options_.pids);
    if (!others.empty()) notices.push_back(absl::StrCat("No kernel was seen, and ", others, "."));
    return notices;
  }

  void TellSleep() {
    for (AttachedProcess& process : processes_) {
      if (process.FallsAsleep(kSleepPatience)) {
        Say(absl::StrCat("process ", process.pid(), ": the agent sleeps; utlz attach ",
                         process.pid(), " wakes it"));
      }
    }
  }

  bool any() const { return !processes_.empty(); }
  bool all_attached() const { return failures_.empty(); }

 private:
  void TellKernels(uint64_t launches) {
    if (launches == 0 || kernels_told_) return;
    kernels_told_ = true;
    Say(absl::StrFormat("%d %s seen; recording for %g s, Ctrl-C ends it", launches,
                        launches == 1 ? "kernel" : "kernels",
                        static_cast<double>(options_.duration_ms) / 1e3));
  }

  void TellOfRanges(const AttachedProcess& process) {
    const std::string reason = process.WhyNoRanges();
    if (reason.empty()) return;
    Say(reason);
    without_ranges_.push_back(reason);
  }

  const AttachOptions& options_;
  Session& session_;
  const sigset_t& ending_;
  std::vector<AttachedProcess> processes_;
  std::vector<std::string> failures_;
  std::vector<std::string> without_ranges_;
  bool kernels_told_ = false;
};

void ShowResult(const AttachOptions& options, const std::string& path,
                const SessionResult& result) {
  if (options.recording.report && options.recording.print_report) {
    options.recording.print_report(result.summary);
  };
  if (result.write_failure) Say(*result.write_failure);
  Say(absl::StrCat(result.write_failure ? "profile, incomplete: " : "profile: ", path));
}

}  // namespace

int AttachToProcesses(const AttachOptions& options) {
  const sigset_t ending = BlockEndingSignals();
  const auto own_folder = ExecutableFolder();
  if (!own_folder.ok()) return Fail(own_folder.status());
  const auto library_path = FindAgentLibrary(*own_folder);
  if (!library_path.ok()) return Fail(library_path.status());
  const auto library = attach::LibraryFile::Open(*library_path);
  if (!library.ok()) return Fail(library.status());
  absl::StatusOr<UniqueFd> named_cupti = OpenNamedCupti(options.recording.cupti_path);
  if (!named_cupti.ok()) return Fail(named_cupti.status());
  const std::vector<pid_t> pids =
      options.all ? ServerProcesses(options.pids) : EachOnce(options.pids);

  const SessionOptions session_options = MakeSessionOptions(options, NameOf(pids.front()));
  auto session = Session::Start(session_options);
  if (!session.ok()) return Fail(session.status());
  Recording recording(options, **session, ending);
  recording.AttachTo(pids, {.agent = *library,
                            .named_cupti = *std::move(named_cupti),
                            .named_cupti_path = options.recording.cupti_path,
                            .cupti = OpenFoundCupti(),
                            .stop_limit = milliseconds(options.stop_limit_ms),
                            .say = Say,
                            .is_cancelled = [&ending] { return SignalIsPending(ending); }});
  if (!recording.any()) {
    const std::string others = options.all ? "" : OthersOfServer(options.pids);
    if (!others.empty()) Say(others);
    session->reset();
    unlink(session_options.profile_path.c_str());
    return 1;
  }
  recording.Record();
  const auto result = (*session)->Finish({.notices = recording.Notices()});
  recording.TellSleep();
  if (!result.ok()) return Fail(result.status());
  ShowResult(options, session_options.profile_path, *result);
  return !result->write_failure && recording.all_attached() ? 0 : 1;
}

}  // namespace utlz
