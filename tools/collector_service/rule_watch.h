// Finds processes that rules name, and attaches to them, one after the other on a thread of its
// own: loading an agent takes a while, and those that came by themselves must not wait for it.
//
// Bounded: kMostAttached processes at once; one that cannot be attached to is left alone for
// kRetry. Thread safety: Look() from one thread.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_RULE_WATCH_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_RULE_WATCH_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attach/library_file.h"
#include "tools/attach_session/attached_process.h"
#include "tools/collector_service/attach_rules.h"
#include "tools/collector_service/job_session.h"

namespace utlz {

class RuleWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string& sentence)>;
  // The session of the job that a process belongs to; null where there can be none.
  using FindSession = std::function<std::shared_ptr<JobSession>(pid_t pid, uid_t user)>;

  static constexpr std::chrono::seconds kPause{5};
  static constexpr std::chrono::minutes kRetry{10};
  static constexpr size_t kMostAttached = 256;

  // `say` is called from any thread. Errors: no agent's library, no such libcupti.
  static absl::StatusOr<std::unique_ptr<RuleWatch>> Start(std::vector<AttachRule> rules,
                                                          const std::string& cupti_path, Say say);
  // Lets go of every process, whose agents become inactive.
  ~RuleWatch();

  // Looks for processes, at most once in kPause.
  void Look(Clock::time_point now, const FindSession& find_session);

 private:
  // A process, and when it began: its number alone may be another's later.
  using Identity = std::pair<pid_t, uint64_t>;
  struct Wanted {
    Identity process;
    std::shared_ptr<JobSession> job_session;
  };
  struct Attached {
    Identity process;
    AttachedProcess agent;
    std::weak_ptr<JobSession> job_session;
  };

  RuleWatch(std::vector<AttachRule> rules, attach::LibraryFile library, UniqueFd named_cupti,
            const std::string& cupti_path, Say say);

  // The user of a process that a rule names; nothing of any other.
  std::optional<uid_t> UserOfNamed(pid_t pid) const;
  void Forget(Clock::time_point now);
  void Run();
  void AttachTo(const Wanted& wanted);

  const std::vector<AttachRule> rules_;
  const attach::LibraryFile library_;
  const Say say_;
  AttachMeans means_;
  Clock::time_point next_look_;
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Wanted> wanted_;  // guarded by mutex_, as is all below
  std::list<Attached> attached_;
  std::map<Identity, Clock::time_point> left_alone_;  // until then
  std::thread thread_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_RULE_WATCH_H_
