#include "tools/collector_service/rule_watch.h"

#include <dirent.h>

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/quiet_thread.h"
#include "tools/attach/agent_link.h"
#include "tools/attach/target/process_facts.h"
#include "tools/attach_session/offered_cupti.h"
#include "tools/attach_session/process_environment.h"
#include "tools/collector_service/job_identity.h"
#include "tools/run/agent_library.h"

namespace utlz {
namespace {

constexpr std::chrono::milliseconds kStopLimit(20);

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return pids;
  while (const dirent* entry = readdir(proc)) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry->d_name, &pid) && pid > 0) pids.push_back(pid);
  }
  closedir(proc);
  return pids;
}

// An agent of `utlz run` or of a service records it already; one that comes later does, too.
bool IsRecordedOtherwise(pid_t pid) {
  const attach::AgentPresence presence = attach::ReadAgentPresence(pid);
  return presence == attach::AgentPresence::kOfRun ||
         presence == attach::AgentPresence::kWithoutThread ||
         StartedWith(pid, kSocketVariable).has_value() ||
         StartedWith(pid, kCollectorVariable).has_value();
}

bool UsesCuda(pid_t pid) {
  const auto facts = attach::ReadProcessFacts(pid);
  return facts.ok() && facts->has_cuda_driver;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RuleWatch>> RuleWatch::Start(std::vector<AttachRule> rules,
                                                            const std::string& cupti_path,
                                                            Say say) {
  const absl::StatusOr<std::string> own_folder = ExecutableFolder();
  if (!own_folder.ok()) return own_folder.status();
  const absl::StatusOr<std::string> path = FindAgentLibrary(*own_folder);
  if (!path.ok()) return path.status();
  absl::StatusOr<attach::LibraryFile> library = attach::LibraryFile::Open(*path);
  if (!library.ok()) return library.status();
  absl::StatusOr<UniqueFd> named_cupti = OpenNamedCupti(cupti_path);
  if (!named_cupti.ok()) return named_cupti.status();
  return std::unique_ptr<RuleWatch>(new RuleWatch(
      std::move(rules), *std::move(library), *std::move(named_cupti), cupti_path, std::move(say)));
}

RuleWatch::RuleWatch(std::vector<AttachRule> rules, attach::LibraryFile library,
                     UniqueFd named_cupti, const std::string& cupti_path, Say say)
    : rules_(std::move(rules)),
      library_(std::move(library)),
      say_(std::move(say)),
      means_{.agent = library_,
             .named_cupti = std::move(named_cupti),
             .named_cupti_path = cupti_path,
             .cupti = OpenFoundCupti(),
             .stop_limit = kStopLimit,
             .say = say_,
             .is_cancelled = [this] { return closing_.load(); }} {
  thread_ = StartQuietThread("utlz-rules", [this] { Run(); });
}

RuleWatch::~RuleWatch() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<uid_t> RuleWatch::UserOfNamed(pid_t pid) const {
  const std::optional<RuleFacts> facts = ReadRuleFacts("/proc", pid);
  const bool is_named =
      facts && std::any_of(rules_.begin(), rules_.end(),
                           [&](const AttachRule& rule) { return Matches(rule, *facts); });
  return is_named ? std::make_optional(facts->user) : std::nullopt;
}

void RuleWatch::Forget(Clock::time_point now) {
  // Without its session nobody reads the ring: its agent is inactive as the connection closes.
  attached_.remove_if([](const Attached& one) {
    return one.job_session.expired() ||
           ReadStartTime("/proc", one.process.first) != one.process.second;
  });
  std::erase_if(left_alone_, [now](const auto& entry) { return now >= entry.second; });
}

void RuleWatch::Look(Clock::time_point now, const FindSession& find_session) {
  if (now < next_look_) return;
  next_look_ = now + kPause;
  const auto is_known = [this](const Identity& process) {
    const auto is_it = [&process](const auto& one) { return one.process == process; };
    return left_alone_.contains(process) ||
           std::any_of(attached_.begin(), attached_.end(), is_it) ||
           std::any_of(wanted_.begin(), wanted_.end(), is_it);
  };
  {
    const std::lock_guard lock(mutex_);
    Forget(now);
  }
  for (const pid_t pid : AllProcesses()) {
    const std::optional<uid_t> user = UserOfNamed(pid);
    if (!user) continue;
    const Identity process(pid, ReadStartTime("/proc", pid));
    {
      const std::lock_guard lock(mutex_);
      if (attached_.size() + wanted_.size() >= kMostAttached || is_known(process)) continue;
    }
    if (!UsesCuda(pid) || IsRecordedOtherwise(pid)) continue;
    std::shared_ptr<JobSession> job_session = find_session(pid, *user);
    if (job_session == nullptr) continue;
    ++job_session->attachments_under_way;
    const std::lock_guard lock(mutex_);
    left_alone_[process] = now + kRetry;  // until it has been attached to
    wanted_.push_back({process, std::move(job_session)});
    changed_.notify_all();
  }
}

void RuleWatch::Run() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    changed_.wait(lock, [this] { return closing_ || !wanted_.empty(); });
    if (closing_) return;
    Wanted wanted = std::move(wanted_.front());
    wanted_.pop_front();
    lock.unlock();
    AttachTo(wanted);
    --wanted.job_session->attachments_under_way;
    wanted.job_session.reset();  // before the lock: it may be the last that holds the session
    lock.lock();
  }
}

void RuleWatch::AttachTo(const Wanted& wanted) {
  const pid_t pid = wanted.process.first;
  // Its number may be another process's by now.
  if (ReadStartTime("/proc", pid) != wanted.process.second || !UserOfNamed(pid)) return;
  absl::StatusOr<AttachedProcess> process =
      AttachedProcess::Attach(pid, means_, *wanted.job_session->session);
  if (!process.ok()) return say_(std::string(process.status().message()));
  say_(absl::StrCat("process ", pid, " (", process->name(), "): ", process->state(), ", ",
                    process->way(), ", by a rule"));
  const std::lock_guard lock(mutex_);
  left_alone_.erase(wanted.process);
  attached_.push_back({wanted.process, *std::move(process), wanted.job_session});
}

}  // namespace utlz
