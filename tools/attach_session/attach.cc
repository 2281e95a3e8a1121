#include "tools/attach_session/attach.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/files/as_user.h"
#include "tools/attach/target/process_facts.h"
#include "tools/attach_session/attached_process.h"
#include "tools/attach_session/offered_cupti.h"
#include "tools/attach_session/server_processes.h"
#include "tools/ending/ending_watch.h"
#include "tools/run/agent_library.h"
#include "tools/run/say.h"

namespace utlz {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookInterval(20);
// Silence that is worth a word.
constexpr milliseconds kSilence(3000);
constexpr milliseconds kInactivePatience(5000);

// The signals that end a recording are EndingWatch's.
void BlockEndingSignals() {
  const sigset_t ending = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a reader of our report that has gone must not keep agents active
}

std::vector<std::string> CommandLine(const AttachOptions& options) {
  std::vector<std::string> words = {"utlz", "attach"};
  if (options.all) words.push_back("--all");
  for (const pid_t pid : options.pids) words.push_back(absl::StrCat(pid));
  return words;
}

// As root we may look into other users' processes, whose arguments and names end in the profile.
bool MayHoldOthersSecrets(const std::vector<pid_t>& pids) {
  if (geteuid() != 0) return false;
  const std::optional<FileUser> invoking = InvokingUser();
  const uid_t own = invoking ? invoking->user_id : 0;
  return std::any_of(pids.begin(), pids.end(), [own](pid_t pid) {
    const auto facts = attach::ReadProcessFacts(pid);
    return !facts.ok() || facts->user_id != own;
  });
}

SessionOptions MakeSessionOptions(const AttachOptions& options, const std::vector<pid_t>& pids,
                                  const std::string& name) {
  SessionOptions session = MakeSessionOptions(options.recording, name);
  session.command = CommandLine(options);
  session.attached = true;
  session.profile_file.is_private = MayHoldOthersSecrets(pids);
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

// Of one that has ended nobody can tell.
bool NoneUsesCuda(const std::vector<pid_t>& pids) {
  return std::all_of(pids.begin(), pids.end(), [](pid_t pid) {
    return attach::ReadProcessFacts(pid).ok() && !UsesCuda(pid);
  });
}

std::string DoNotUseCuda(const std::vector<pid_t>& pids) {
  return pids.size() == 1 ? absl::StrCat("process ", pids.front(), " does not use CUDA")
                          : "the processes do not use CUDA";
}

// The number of a server's first process is easily had, but its workers do the work.
std::string OthersOfServer(const std::vector<pid_t>& pids) {
  for (const pid_t other : ServerProcesses(pids)) {
    if (std::find(pids.begin(), pids.end(), other) != pids.end()) continue;
    if (NoneUsesCuda(pids)) {
      return absl::StrCat(DoNotUseCuda(pids), ", but process ", other,
                          " of the same server does: --all takes it");
    }
    return absl::StrCat("process ", other, " of the same server uses CUDA too, which --all takes");
  }
  return "";
}

// Why no kernel comes.
std::string WhySilent(const std::vector<pid_t>& pids) {
  const std::string others = OthersOfServer(pids);
  if (!NoneUsesCuda(pids)) {
    return others.empty() ? "the processes launch none"
                          : absl::StrCat("the processes launch none, and ", others);
  }
  if (!others.empty()) return others;
  return absl::StrCat(DoNotUseCuda(pids), " so far; utlz ps lists those that do");
}

class Recording {
 public:
  Recording(const AttachOptions& options, Session& session, const EndingWatch& ending)
      : options_(options), session_(session), ending_(ending) {}

  // Processes that cannot be attached to are named and left out.
  void AttachTo(const std::vector<pid_t>& pids, const AttachMeans& means) {
    pids_ = pids;
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
      if (options_.recording.nvtx) ReportMissingRanges(*process);
      processes_.push_back(*std::move(process));
    }
  }

  // Until the duration is over, a signal comes, or every process has ended.
  void Record() {
    const auto begin = steady_clock::now();
    const auto end = begin + milliseconds(options_.duration_ms);
    bool silence_reported = false;
    while (steady_clock::now() < end && !ending_.ComesWithin(kLookInterval)) {
      const SessionProgress progress = session_.Progress();
      ReportLaunches(progress.launches);
      if (!launches_reported_ && !silence_reported && steady_clock::now() > begin + kSilence) {
        silence_reported = true;
        Say(absl::StrCat("no kernel was seen yet: ", WhySilent(pids_), "; still waiting"));
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
    return notices;
  }

  // For a report without a kernel.
  std::vector<std::string> ExplainSilence() const {
    return {absl::StrCat("No kernel was seen: ", WhySilent(pids_), ".")};
  }

  void ReportInactive() {
    for (AttachedProcess& process : processes_) {
      if (process.BecomesInactive(kInactivePatience)) {
        Say(absl::StrCat("process ", process.pid(), ": the agent is inactive; utlz attach ",
                         process.pid(), " activates it"));
      }
    }
  }

  bool any() const { return !processes_.empty(); }
  bool all_attached() const { return failures_.empty(); }

 private:
  void ReportLaunches(uint64_t launches) {
    if (launches == 0 || launches_reported_) return;
    launches_reported_ = true;
    Say(absl::StrFormat("%d %s seen; recording for %g s, Ctrl-C ends it", launches,
                        launches == 1 ? "kernel" : "kernels",
                        static_cast<double>(options_.duration_ms) / 1e3));
  }

  void ReportMissingRanges(const AttachedProcess& process) {
    const std::string reason = process.WhyNoRanges();
    if (reason.empty()) return;
    Say(reason);
    without_ranges_.push_back(reason);
  }

  const AttachOptions& options_;
  Session& session_;
  const EndingWatch& ending_;
  std::vector<pid_t> pids_;
  std::vector<AttachedProcess> processes_;
  std::vector<std::string> failures_;
  std::vector<std::string> without_ranges_;
  bool launches_reported_ = false;
};

void ShowResult(const AttachOptions& options, const std::string& path,
                const SessionResult& result) {
  if (options.recording.report && options.recording.print_report) {
    options.recording.print_report(result.summary);
  };
  if (result.write_failure) Say(*result.write_failure);
  Say(result.DescribeProfile(path));
}

}  // namespace

int AttachToProcesses(const AttachOptions& options) {
  BlockEndingSignals();
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

  SessionOptions session_options = MakeSessionOptions(options, pids, NameOf(pids.front()));
  const EndingWatch ending(
      {.at_second = absl::StrCat("ended before the profile was finished; utlz report ",
                                 session_options.profile_path, " shows what it holds")});
  const auto exporter = StartExporter(options.recording, Say, &session_options);
  if (!exporter.ok()) return Fail(exporter.status());
  const auto history = StartHistory(options.recording, Say, &session_options);
  if (!history.ok()) return Fail(history.status());
  const auto scraper = StartScraper(options.recording, Say, &session_options);
  if (!scraper.ok()) return Fail(scraper.status());
  auto session = StartSession(session_options);
  if (!session.ok()) return Fail(session.status());
  Recording recording(options, **session, ending);
  const std::string wrong = options.all || !NoneUsesCuda(pids) ? "" : OthersOfServer(pids);
  if (!wrong.empty()) Say(wrong);  // before a thread is looked for, which may take long
  recording.AttachTo(pids, {.agent = *library,
                            .named_cupti = *std::move(named_cupti),
                            .named_cupti_path = options.recording.cupti_path,
                            .cupti = OpenFoundCupti(),
                            .stop_limit = milliseconds(options.stop_limit_ms),
                            .say = Say,
                            .is_cancelled = [&ending] { return ending.Came(); }});
  if (!recording.any()) {
    const std::string others = options.all || !wrong.empty() ? "" : OthersOfServer(options.pids);
    if (!others.empty()) Say(others);
    return 1;
  }
  recording.Record();
  const auto result =
      (*session)->Finish({.notices = recording.Notices(),
                          .explain_silence = [&recording] { return recording.ExplainSilence(); }});
  recording.ReportInactive();
  if (!result.ok()) return Fail(result.status());
  ShowResult(options, session_options.profile_path, *result);
  return !result->write_failure && recording.all_attached() ? 0 : 1;
}

}  // namespace utlz
