// The jobs that a service records: a session and a profile for each, from its first agent until
// none has been left for a while.
//
// Bounded: so many jobs at once, and as many that are ending. At the bound a job without an agent
// ends early; where every job has one, agents of further jobs are refused, and ask again.
//
// Thread safety: none. Sessions publish metrics from their own threads.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_TABLE_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_TABLE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "collector/ingest/agent_listener.h"
#include "collector/session/session.h"
#include "tools/collector_service/ending_jobs.h"
#include "tools/collector_service/job_identity.h"
#include "tools/collector_service/job_session.h"

namespace utlz {

struct JobLimits {
  size_t most_jobs = 64;
  std::chrono::milliseconds linger{10'000};             // without an agent, until a job is over
  std::chrono::milliseconds longest{24 * 3600 * 1000};  // then its profile ends, and another begins
};

// How a job is recorded.
struct JobRecording {
  SessionOptions session;
  std::function<void()> ended;  // called once the profile is finished, on any thread
};
using JobRecorder = std::function<JobRecording(const JobIdentity& job)>;

class JobTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string& sentence)>;

  // `say` is called from any thread.
  JobTable(const JobLimits& limits, JobRecorder recorder, Say say)
      : limits_(limits), recorder_(std::move(recorder)), say_(std::move(say)) {}

  // Gives the agent to its job's session, which begins where there is none yet. False where it
  // cannot; the agent then has its refusal already.
  bool Admit(const JobIdentity& job, AgentHandshake handshake, Clock::time_point now);

  // The session of this job, which begins where there is none yet; null where it cannot.
  std::shared_ptr<JobSession> SessionOf(const JobIdentity& job, Clock::time_point now);

  // Ends the jobs whose time has come.
  void Look(Clock::time_point now);

  // Ends all of them, and waits until their profiles are whole.
  void EndAll();

  size_t size() const { return jobs_.size(); }

 private:
  struct Job {
    std::string name;
    std::string profile_path;
    std::function<void()> ended;
    std::shared_ptr<JobSession> job_session;
    Clock::time_point begun;
    Clock::time_point last_agent;  // when one came, or was there
  };
  using Jobs = std::map<std::string, Job>;  // by key

  bool MakeRoom();
  Jobs::iterator End(Jobs::iterator entry);

  JobLimits limits_;
  JobRecorder recorder_;
  Say say_;
  Jobs jobs_;
  EndingJobs ending_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_TABLE_H_
