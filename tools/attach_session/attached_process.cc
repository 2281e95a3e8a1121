#include "tools/attach_session/attached_process.h"

#include <sys/socket.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/diagnosis/cupti_notices.h"
#include "collector/sampler_name.h"
#include "collector/session/agent_trouble.h"
#include "tools/attach/agent_link.h"
#include "tools/attach/loader.h"
#include "tools/attach/preflight.h"
#include "tools/attach/target/process_facts.h"
#include "tools/attach_session/process_environment.h"
#include "tools/run/agent_library.h"

namespace utlz {
namespace {

using attach::AgentPresence;

// A busy process may be slow to give the agent's thread its turn, and CUPTI slow to load.
constexpr std::chrono::milliseconds kAnswerPatience(30'000);
constexpr std::chrono::milliseconds kAnswerLook(100);

// The agent's first answer. Cancelled, it becomes inactive again as the connection closes.
absl::StatusOr<ControlAnswer> AwaitAnswer(const UniqueFd& connection, const AttachMeans& means) {
  for (auto waited = kAnswerLook;; waited += kAnswerLook) {
    auto answer = attach::ReceiveAnswer(connection, kAnswerLook);
    if (!absl::IsDeadlineExceeded(answer.status()) || waited >= kAnswerPatience) return answer;
    if (means.is_cancelled()) return absl::CancelledError("interrupted; its agent is inactive");
  }
}

// A library that has just been loaded is about to start its thread.
AgentPresence SettledPresence(pid_t pid) {
  constexpr int kMostLooks = 50;
  constexpr std::chrono::milliseconds kInterval(20);
  AgentPresence presence = attach::ReadAgentPresence(pid);
  for (int i = 0; presence == AgentPresence::kWithoutThread && i < kMostLooks; ++i) {
    std::this_thread::sleep_for(kInterval);
    presence = attach::ReadAgentPresence(pid);
  }
  return presence;
}

// Refuses a process whose variables will load an agent at its first use of CUDA: that agent must
// not find another one there.
absl::Status CheckNoneIsComing(pid_t pid, const std::string& name) {
  if (StartedWith(pid, kCollectorVariable)) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", pid, " (", name, ") has the variables of a collector (",
                     kCollectorVariable, "), which records it once it uses CUDA"));
  }
  const bool of_run = StartedWith(pid, kSocketVariable).has_value();
  if (!of_run && !StartedWith(pid, kPreloadVariable)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "process ", pid, " (", name, ") was started by utlz run", of_run ? "" : " --preload",
      " and has not used CUDA yet; its agent comes with that, ",
      of_run ? "and profiles it" : "so attach once it has"));
}

}  // namespace

absl::StatusOr<AttachedProcess> AttachedProcess::Attach(pid_t pid, const AttachMeans& means,
                                                        Session& session) {
  const auto facts = attach::ReadProcessFacts(pid);
  if (!facts.ok()) return facts.status();
  if (facts->name == kSamplerProcessName) {
    return absl::FailedPreconditionError(absl::StrCat(
        "process ", pid, " is a sampler of utlz's own; utlz ps lists the programs that use a GPU"));
  }
  AttachedProcess process(pid, facts->name);
  if (absl::Status status = process.Reach(means); !status.ok()) return status;
  if (absl::Status status = process.BeginTracing(means, session); !status.ok()) return status;
  return process;
}

absl::Status AttachedProcess::Reach(const AttachMeans& means) {
  switch (SettledPresence(pid_)) {
    case AgentPresence::kAbsent: {
      absl::Status status = Load(means);
      // Another tool may have been quicker.
      return absl::IsAlreadyExists(status) ? Activate(means) : status;
    }
    case AgentPresence::kInactive:
    case AgentPresence::kActive:
      return Activate(means);
    case AgentPresence::kOfRun:
      return absl::FailedPreconditionError(
          absl::StrCat("process ", pid_, " (", name_,
                       ") was started by utlz run, which profiles it; its report comes at the "
                       "end of that run; or a collector records it"));
    case AgentPresence::kWithoutThread:
      return absl::FailedPreconditionError(
          absl::StrCat("process ", pid_, " (", name_,
                       ") has the library of an agent but no agent: it was forked from a process "
                       "with one (attach to its parent), or it closed the agent's descriptors "
                       "(then only a restart helps)"));
  }
  return absl::InternalError("unknown presence");
}

absl::Status AttachedProcess::Load(const AttachMeans& means) {
  if (absl::Status status = CheckNoneIsComing(pid_, name_); !status.ok()) return status;
  attach::LoadOptions options;
  options.stop_limit = means.stop_limit;
  options.is_cancelled = means.is_cancelled;
  options.on_waiting = [&](std::chrono::milliseconds elapsed) {
    means.say(absl::StrCat("process ", pid_, " has been loading the agent for ",
                           elapsed.count() / 1000, " s; this cannot be interrupted"));
  };
  auto loaded = attach::LoadIntoProcess(pid_, means.agent, options);
  if (!loaded.ok()) return loaded.status();
  connection_ = std::move(loaded->socket);
  if (loaded->by_python) {
    way_ = "agent loaded by its Python, no thread stopped";
    return absl::OkStatus();
  }
  way_ = absl::StrFormat(
      "agent loaded, one thread stopped for %.1f ms, %.1f of them in dlopen",
      static_cast<double>(loaded->stopped.count()) / 1e3,
      static_cast<double>((loaded->stopped - loaded->stopped_before_call).count()) / 1e3);
  return absl::OkStatus();
}

absl::Status AttachedProcess::Activate(const AttachMeans& means) {
  // An agent whose process stands still answers nothing.
  const auto facts = attach::ReadProcessFacts(pid_);
  if (!facts.ok()) return facts.status();
  if (absl::Status status = attach::CheckNotHalted(*facts); !status.ok()) return status;
  const bool with_library = means.named_cupti.valid();
  auto connection = attach::ConnectToAgent(pid_, with_library);
  if (!connection.ok()) {
    return absl::Status(
        connection.status().code(),
        absl::StrCat("process ", pid_, " (", name_,
                     ") has an agent that cannot be reached: ", connection.status().message(),
                     with_library ? "; attach without --cupti, or name the libcupti when the "
                                    "process is started (utlz run --preload --cupti)"
                                  : ""));
  }
  connection_ = std::move(connection->socket);
  takes_libraries_ = connection->takes_libraries;
  way_ = "agent activated";
  return absl::OkStatus();
}

absl::Status AttachedProcess::Refusal(const ControlAnswer& answer) const {
  const std::string who = absl::StrCat("process ", pid_, " (", name_, ")");
  if (answer.state == static_cast<uint32_t>(ControlState::kBusy)) {
    return absl::FailedPreconditionError(
        absl::StrCat(who,
                     " is being profiled by another utlz: wait for the end of a utlz attach; a "
                     "utlz collector has a profile of it"));
  }
  const auto reason = static_cast<AgentReason>(answer.reason);
  // With --cupti, the CUPTI in use may be the program's own; the agent's copy may be free.
  const bool taken_from_named = reason == AgentReason::kCuptiTaken &&
                                answer.named_cupti == static_cast<uint32_t>(NamedCupti::kUsed);
  return absl::FailedPreconditionError(absl::StrCat(
      who, " cannot be traced: ", OffSentence(reason, answer.reason_detail),
      taken_from_named ? ", or attach without --cupti where that one is inside the program" : ""));
}

void AttachedProcess::ReportNamedCupti(const ControlAnswer& answer,
                                       const AttachMeans& means) const {
  const std::string sentence =
      DescribeNamedCupti(static_cast<NamedCupti>(answer.named_cupti), means.named_cupti_path, "");
  if (!sentence.empty()) means.say(absl::StrCat("process ", pid_, " (", name_, "): ", sentence));
}

absl::Status AttachedProcess::BeginTracing(const AttachMeans& means, Session& session) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket pair");
  }
  const UniqueFd theirs(ends[1]);
  session.AddAgent(UniqueFd(ends[0]), pid_);
  attach::CuptiOffer offer;
  if (takes_libraries_) offer = {means.named_cupti.get(), means.cupti.get()};
  absl::Status asked = attach::AskToTrace(connection_, theirs.get(), offer);
  if (!asked.ok()) return asked;
  const auto answer = AwaitAnswer(connection_, means);
  if (!answer.ok()) {
    return absl::Status(answer.status().code(), absl::StrCat("process ", pid_, " (", name_,
                                                             "): ", answer.status().message()));
  }
  ReportNamedCupti(*answer, means);
  if (answer->state == static_cast<uint32_t>(ControlState::kTracing)) return absl::OkStatus();
  if (answer->state == static_cast<uint32_t>(ControlState::kWaiting)) {
    const bool taken = answer->reason == static_cast<uint32_t>(AgentReason::kBuffersTaken);
    state_ = taken ? "waiting for another profiler in it (torch.profiler?) to stop tracing"
                   : "waiting for it to use CUDA";
    return absl::OkStatus();
  }
  return Refusal(*answer);
}

std::string AttachedProcess::WhyNoRanges() const {
  const std::optional<std::string> library = StartedWith(pid_, kNvtxInjectionVariable);
  const bool heard_by_cupti =
      library && absl::StartsWith(std::filesystem::path(*library).filename().string(), "libcupti");
  if (heard_by_cupti) return "";
  return absl::StrCat("process ", pid_, " (", name_, ") was started ",
                      library ? "with another " : "without ", kNvtxInjectionVariable,
                      ", so its NVTX ranges are not heard; start it with that variable naming the "
                      "libcupti of its framework");
}

bool AttachedProcess::BecomesInactive(std::chrono::milliseconds patience) {
  const auto answer = attach::ReceiveAnswer(connection_, patience);
  if (!answer.ok() || answer->state != static_cast<uint32_t>(ControlState::kInactive)) return false;
  return absl::IsAborted(attach::ReceiveAnswer(connection_, patience).status());
}

}  // namespace utlz
