#include "tools/run/run.h"

#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "collector/sampler/driver/library_search.h"
#include "proto/attach_control.h"
#include "proto/ring_abi.h"
#include "proto/run_token.h"
#include "tools/ending/ending_watch.h"
#include "tools/exporter/find_places.h"
#include "tools/run/agent_library.h"
#include "tools/run/child_process.h"
#include "tools/run/command_lookup.h"
#include "tools/run/cuda_absence.h"
#include "tools/run/private_folder.h"
#include "tools/run/say.h"
#include "tools/run/signal_relay.h"

namespace utlz {
namespace {

constexpr char kInjectionVariable[] = "CUDA_INJECTION64_PATH";
constexpr size_t kMostJobNameBytes = 64;

int LookupExitStatus(const absl::Status& status) {
  Say(std::string(status.message()));
  if (absl::IsNotFound(status)) return kCommandNotFound;
  return absl::IsPermissionDenied(status) ? kCommandNotExecutable : kRunFailed;
}

// Two injection libraries cannot share a process: the driver loads one.
absl::Status CheckEnvironment(bool nvtx) {
  for (const char* name : {kInjectionVariable, kNvtxInjectionVariable}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    if (name == kNvtxInjectionVariable && !nvtx) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(name, " is already set to ", value,
                     ": another profiler is at work here, or another utlz run; unset it first"));
  }
  return absl::OkStatus();
}

// The folder above the program's own: of venv/bin/python that of the virtual environment.
std::string PrefixOf(const std::string& program) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(program, error).lexically_normal();
  return path.parent_path().parent_path().string();
}

// The libcupti for processes that bring none, as a C++ program may; empty where there is none.
std::string CuptiOfLastResort(const std::string& program) {
  const char* set_already = std::getenv(kCuptiVariable);
  if (set_already != nullptr && *set_already != '\0') return set_already;
  const CuptiSearch search = FindCupti(UserLibrarySearch("", PrefixOf(program)));
  return search.paths.empty() ? "" : search.paths.front();
}

// Where agents find CUPTI: what the user named comes first, what was found here last.
std::vector<EnvironmentAddition> CuptiForAgents(const RunOptions& options,
                                                const std::string& program) {
  std::vector<EnvironmentAddition> additions;
  const std::string& named = options.recording.cupti_path;
  if (!named.empty()) additions.emplace_back(kNamedCuptiVariable, named);
  const std::string found = CuptiOfLastResort(program);
  if (!found.empty()) additions.emplace_back(kCuptiVariable, found);
  return additions;
}

absl::StatusOr<RunToken> MakeToken() {
  RunToken token = {};
  if (getrandom(&token, sizeof(token), 0) == static_cast<ssize_t>(sizeof(token))) return token;
  return absl::ErrnoToStatus(errno, "the kernel gives no random numbers for the run's token");
}

std::vector<EnvironmentAddition> AgentEnvironment(const std::string& library,
                                                  const std::string& socket, const RunToken& token,
                                                  std::vector<EnvironmentAddition> additions,
                                                  const RecordingOptions& recording) {
  additions.emplace_back(kInjectionVariable, library);
  additions.emplace_back(kSocketVariable, socket);
  char token_text[kTokenTextBytes];
  WriteToken(token, token_text);
  additions.emplace_back(kTokenVariable, token_text);
  const bool names_instructions =
      recording.stacks && std::getenv(kNvtxInjectionVariable) == nullptr;
  if (recording.nvtx || names_instructions) {
    additions.emplace_back(kNvtxInjectionVariable, library);
  }
  if (!recording.nvtx && names_instructions) {
    additions.emplace_back(kNvtxVariable, kNvtxInstructions);
  }
  return additions;
}

// What all processes of the command are one job by, unless something else makes them one.
void NameJob(const std::string& command) {
  const ProcessPlace place = MachinePlaces().process(static_cast<uint64_t>(getpid()));
  if (!place.job.empty() || !place.pod_uid.empty()) return;
  const std::string name = command.substr(command.rfind('/') + 1);
  setenv(kJobVariable, absl::StrCat(name.substr(0, kMostJobNameBytes), "-", getpid()).c_str(), 1);
}

// Sets the variables that say who takes the agent's records: an attaching tool, or a service.
void SetAgentsEnvironment(const RunOptions& options) {
  for (const char* name : {kSocketVariable, kTokenVariable, kPreloadVariable, kCollectorVariable}) {
    unsetenv(name);
  }
  if (options.collector.empty()) {
    setenv(kPreloadVariable, "1", 1);
    return;
  }
  setenv(kCollectorVariable, options.collector.c_str(), 1);
  NameJob(options.command[0]);
}

// Returns only where the command cannot be executed.
int BecomeCommand(const std::string& program, const RunOptions& options, const std::string& library,
                  const std::vector<EnvironmentAddition>& cupti) {
  const std::vector<std::string>& command = options.command;
  setenv(kInjectionVariable, library.c_str(), 1);
  for (const auto& [name, value] : cupti) setenv(name.c_str(), value.c_str(), 1);
  SetAgentsEnvironment(options);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
  const int error = errno;
  Say(absl::StrCat(command[0], ": cannot be executed: ", std::strerror(error)));
  return error == ENOENT ? kCommandNotFound : kCommandNotExecutable;
}

SessionOptions MakeSessionOptions(const RunOptions& options, const std::string& program,
                                  const std::string& socket, const RunToken& token) {
  SessionOptions session = MakeSessionOptions(options.recording, options.command[0]);
  session.socket_path = socket;
  session.token = token;
  session.program_prefix = PrefixOf(program);
  session.command = options.command;
  session.delay_ms = options.delay_ms;
  session.duration_ms = options.duration_ms;
  return session;
}

CommandOutcome OutcomeOf(int wait_status) {
  CommandOutcome outcome;
  if (WIFSIGNALED(wait_status)) {
    outcome.signal = WTERMSIG(wait_status);
  } else {
    outcome.exit_status = WEXITSTATUS(wait_status);
  }
  return outcome;
}

int ExitStatusOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// For the time without a command, in which its signals are ours.
EndingWatchOptions WithoutCommand(const SignalRelay& signals, const SessionOptions& session,
                                  const std::string& folder) {
  return {.first_came = signals.ending_signal_came(),
          .at_first = "finishing the profile; a second Ctrl-C ends utlz at once, without a report",
          .at_second = absl::StrCat("ended before the profile was finished; utlz report ",
                                    session.profile_path, " shows what it holds"),
          .files = {session.socket_path},
          .folder = folder};
}

// Without an agent `absence` says why, or else the notices do; `warning` was said at the start.
void ShowResult(const RunOptions& options, const std::string& path, const SessionResult& result,
                const std::vector<std::string>& absence,
                const std::optional<std::string>& warning) {
  if (result.agents == 0 && !absence.empty()) {
    Say(CudaAbsenceMessage(absence, options.message_columns));
  } else if (result.agents == 0) {
    for (const std::string& notice : result.summary.run().notices()) {
      if (notice != warning) Say(notice);
    }
  } else if (options.recording.report && options.recording.print_report) {
    options.recording.print_report(result.summary);
  }
  if (result.write_failure) Say(*result.write_failure);
  Say(result.DescribeProfile(path));
}

}  // namespace

int RunCommand(const RunOptions& options) {
  if (absl::Status status = CheckEnvironment(options.recording.nvtx); !status.ok())
    return Fail(status, kRunFailed);
  const absl::StatusOr<std::string> program = FindCommand(options.command[0]);
  if (!program.ok()) return LookupExitStatus(program.status());
  const absl::StatusOr<std::string> own_folder = ExecutableFolder();
  if (!own_folder.ok()) return Fail(own_folder.status(), kRunFailed);
  const absl::StatusOr<std::string> library = FindAgentLibrary(*own_folder);
  if (!library.ok()) return Fail(library.status(), kRunFailed);
  const std::optional<std::string> warning = RaisedPrivilegesWarning(*program);
  if (warning) Say("warning: " + *warning);
  const std::vector<EnvironmentAddition> cupti = CuptiForAgents(options, *program);
  if (options.preload || !options.collector.empty()) {
    return BecomeCommand(*program, options, *library, cupti);
  }
  const absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return Fail(folder.status(), kRunFailed);
  const absl::StatusOr<RunToken> token = MakeToken();
  if (!token.ok()) return Fail(token.status(), kRunFailed);

  SignalRelay signals;  // before the session's thread
  const std::string socket = PrivateFolder::SocketIn(folder->path());
  SessionOptions session_options = MakeSessionOptions(options, *program, socket, *token);
  const auto exporter = StartExporter(options.recording, Say, &session_options);
  if (!exporter.ok()) return Fail(exporter.status(), kRunFailed);
  const auto history = StartHistory(options.recording, Say, &session_options);
  if (!history.ok()) return Fail(history.status(), kRunFailed);
  const auto scraper = StartScraper(options.recording, Say, &session_options);
  if (!scraper.ok()) return Fail(scraper.status(), kRunFailed);
  absl::StatusOr<std::unique_ptr<Session>> session = StartSession(session_options);
  if (!session.ok()) return Fail(session.status(), kRunFailed);
  // The command's agent waits a second for its answer, and no more.
  (*session)->AwaitReady();
  const absl::StatusOr<pid_t> child =
      StartChild(*program, options.command,
                 AgentEnvironment(*library, socket, *token, cupti, options.recording), signals);
  if (!child.ok()) {
    const EndingWatch ending(WithoutCommand(signals, session_options, folder->path()));
    session->reset();
    return LookupExitStatus(child.status());
  }

  const int wait_status = signals.WaitFor(*child);
  const EndingWatch ending(WithoutCommand(signals, session_options, folder->path()));
  CommandOutcome outcome = OutcomeOf(wait_status);
  if (warning) outcome.notices.push_back(*warning);
  std::vector<std::string> absence;
  outcome.explain_absence = [&] {
    absence = ExplainCudaAbsence(GatherCudaAbsenceFacts(*program, options.command));
    return absence;
  };
  const absl::StatusOr<SessionResult> result = (*session)->Finish(outcome);
  if (result.ok()) {
    ShowResult(options, session_options.profile_path, *result, absence, warning);
  } else {
    Say(std::string(result.status().message()));
  }
  return ExitStatusOf(wait_status);
}

}  // namespace utlz
