#include "tools/collector_service/job_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/text/shown_text.h"

namespace utlz {
namespace {

// When that was, by the clock of the profile.
uint64_t RealtimeNsOf(JobTable::Clock::time_point moment) {
  const auto since = std::chrono::nanoseconds(JobTable::Clock::now() - moment).count();
  const auto now_ns = static_cast<int64_t>(RealtimeNs());
  return static_cast<uint64_t>(std::max<int64_t>(0, now_ns - since));
}

bool IsGoingOn(const JobSession& job_session) {
  return job_session.session->Progress().live_agents > 0 || job_session.attachments_under_way > 0;
}

void FinishJob(Session* session, const std::string& name, const std::string& path, uint64_t end_ns,
               const JobTable::Say& say) {
  // Without Finish() no profile is left, and there was nobody to record.
  if (session->Progress().agents == 0) return say(absl::StrCat(name, ": no process was recorded"));
  const absl::StatusOr<SessionResult> result = session->Finish({.end_ns = end_ns});
  if (!result.ok()) return say(absl::StrCat(name, ": ", result.status().message()));
  if (result->write_failure) say(absl::StrCat(name, ": ", *result->write_failure));
  say(absl::StrCat(name, ": ", result->agents, result->agents == 1 ? " process" : " processes",
                   ", ", result->DescribeProfile(path)));
}

}  // namespace

bool JobTable::Admit(const JobIdentity& job, AgentHandshake handshake, Clock::time_point now) {
  const std::shared_ptr<JobSession> job_session = SessionOf(job, now);
  if (job_session == nullptr) {
    AgentWelcome refusal = {};
    refusal.magic = kHandshakeMagic;
    refusal.abi_version = kAgentAbiVersion;
    SendWelcome(handshake, refusal);
    return false;
  }
  job_session->session->AddHandshake(std::move(handshake));
  return true;
}

std::shared_ptr<JobSession> JobTable::SessionOf(const JobIdentity& identity,
                                                Clock::time_point now) {
  if (const auto found = jobs_.find(identity.key); found != jobs_.end()) {
    found->second.last_agent = now;
    return found->second.job_session;
  }
  if (!MakeRoom()) {
    say_(absl::StrCat(EscapeForTerminal(identity.name), ": not recorded, since ", limits_.most_jobs,
                      " jobs are; its processes ask again (--most-jobs)"));
    return nullptr;
  }
  JobRecording recording = recorder_(identity);
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Start(recording.session);
  if (!session.ok()) {
    if (recording.ended) recording.ended();
    say_(absl::StrCat(EscapeForTerminal(identity.name),
                      ": not recorded: ", session.status().message()));
    return nullptr;
  }
  Job& job = jobs_[identity.key];
  job.name = EscapeForTerminal(identity.name);
  job.profile_path = recording.session.profile_path;
  job.ended = std::move(recording.ended);
  job.job_session = std::make_shared<JobSession>();
  job.job_session->session = *std::move(session);
  job.begun = job.last_agent = now;
  say_(absl::StrCat(job.name, ": recording into ", job.profile_path));
  return job.job_session;
}

bool JobTable::MakeRoom() {
  if (ending_.Count() >= limits_.most_jobs) return false;
  if (jobs_.size() < limits_.most_jobs) return true;
  for (auto entry = jobs_.begin(); entry != jobs_.end(); ++entry) {
    if (!IsGoingOn(*entry->second.job_session)) {
      End(entry);
      return true;
    }
  }
  return false;
}

void JobTable::Look(Clock::time_point now) {
  for (auto entry = jobs_.begin(); entry != jobs_.end();) {
    Job& job = entry->second;
    if (IsGoingOn(*job.job_session)) job.last_agent = now;
    const bool over = now >= job.last_agent + limits_.linger || now >= job.begun + limits_.longest;
    entry = over ? End(entry) : std::next(entry);
  }
  ending_.Count();
}

JobTable::Jobs::iterator JobTable::End(Jobs::iterator entry) {
  auto job = std::make_shared<Job>(std::move(entry->second));
  ending_.Add([job, say = say_] {
    FinishJob(job->job_session->session.get(), job->name, job->profile_path,
              RealtimeNsOf(job->last_agent), say);
    job->job_session.reset();
    if (job->ended) job->ended();
  });
  return jobs_.erase(entry);
}

void JobTable::EndAll() {
  for (auto entry = jobs_.begin(); entry != jobs_.end();) entry = End(entry);
  ending_.AwaitAll();
}

}  // namespace utlz
