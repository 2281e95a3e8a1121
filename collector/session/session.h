// One run: accepts agents, reads their rings and the sampler, feeds RunIntake and the profile.
//
// Start() returns once agents can connect; a thread does the rest until Finish(). That thread has
// every signal blocked. A session never ends the run that it watches: what goes wrong becomes a
// notice in the report.
//
// Thread safety: all calls from one thread.
#ifndef UTLZ_COLLECTOR_SESSION_SESSION_H_
#define UTLZ_COLLECTOR_SESSION_SESSION_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/ingest/agent_listener.h"
#include "collector/session/session_options.h"
#include "collector/session/session_progress.h"
#include "collector/unique_fd.h"
#include "proto/ring_abi.h"
#include "proto/summary.pb.h"

namespace utlz {

// How the command ended, as far as it is known.
struct CommandOutcome {
  std::optional<int> exit_status = std::nullopt;
  std::optional<int> signal = std::nullopt;
  std::optional<uint64_t> end_ns = std::nullopt;  // when, if not now (CLOCK_REALTIME)
  std::vector<std::string> notices = {};          // sentences for the report
  // The session asks for these sentences only if no agent ever came.
  std::function<std::vector<std::string>()> explain_absence = {};
  // The session asks for these only if no agent recorded a kernel. It asks once agents have handed
  // over their last records.
  std::function<std::vector<std::string>()> explain_silence = {};
};

struct SessionResult {
  Summary summary;
  uint64_t agents = 0;                       // processes whose agent connected
  std::optional<std::string> write_failure;  // why the profile is incomplete, where it is
  bool profile_is_elsewhere = false;         // moved or removed while it was written

  // "profile: PATH", or that it is incomplete, or that none is there.
  std::string DescribeProfile(const std::string& path) const;
};

class Session {
 public:
  // What is at profile_path stays until a process was recorded. A session that ends before that,
  // without Finish(), leaves no profile.
  static absl::StatusOr<std::unique_ptr<Session>> Start(const SessionOptions& options);
  virtual ~Session() = default;

  // Waits until the sampler was started, which may take long on a busy machine: agents that come
  // after that are answered at once.
  virtual void AwaitReady() = 0;

  // Waits briefly for processes that outlive the command, drains every ring, closes the profile.
  virtual absl::StatusOr<SessionResult> Finish(const CommandOutcome& outcome) = 0;

  // Takes in the agent of process `pid`, which has the other end of this connected socket.
  virtual void AddAgent(UniqueFd connection, pid_t pid) = 0;

  // Answers an agent that has said hello elsewhere.
  virtual void AddHandshake(AgentHandshake handshake) = 0;

  virtual SessionProgress Progress() const = 0;

  // Asks every agent, present and future, for `state` (kTracing or kInactive).
  virtual void RequestState(AgentState state) = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SESSION_H_
