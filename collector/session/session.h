// One run: accepts agents, reads their rings and the sampler, feeds the model and the profile.
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
#include "collector/unique_fd.h"
#include "proto/profile.pb.h"
#include "proto/ring_abi.h"
#include "proto/summary.pb.h"

namespace utlz {

enum class CountersMode { kAuto, kSample, kRange, kNone };

struct SessionOptions {
  std::string profile_path;
  // Where agents connect, in a directory that is ours alone; at most 107 bytes. Empty: only agents
  // that AddAgent() brings are taken in.
  std::string socket_path;
  std::vector<std::string> command;  // for the report
  CountersMode counters = CountersMode::kAuto;
  uint32_t overhead_budget_ppm = 10000;  // 0 = unlimited
  uint32_t trace_flags = kTraceKernels | kTraceCopies;
  uint64_t delay_ms = 0;                // agents sleep until then
  std::optional<uint64_t> duration_ms;  // and again this long after
  bool attached = false;     // to running processes: Finish() asks their agents to sleep at once
  ModelWork model_work;      // recorded with the run
  AlertLimits alert_limits;  // the same
  std::vector<DeviceCeilings> ceilings;  // what this machine's GPUs were measured to attain
  std::string cupti_path;                // a libcupti that the user named for the sampler
  std::string program_prefix;  // what the command is installed in: its Python may bring a libcupti
  // Run as `<this> sampler …`; empty: no sampler at all, not even for totals.
  std::string sampler_executable = "/proc/self/exe";
};

// How the command ended, as far as it is known.
struct CommandOutcome {
  std::optional<int> exit_status = std::nullopt;
  std::optional<int> signal = std::nullopt;
  std::vector<std::string> notices = {};  // sentences for the report
  // One more, asked for only where no agent ever connected.
  std::function<std::string()> explain_absence = {};
};

struct SessionResult {
  Summary summary;
  uint64_t agents = 0;                       // processes whose agent connected
  std::optional<std::string> write_failure;  // why the profile is incomplete, where it is
};

// How a session stands. What it counts may be a moment old.
struct SessionProgress {
  uint64_t agents = 0;       // that ever connected
  uint64_t live_agents = 0;  // and have not ended
  uint64_t launches = 0;     // of kernels, so far
};

class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Start(const SessionOptions& options);
  virtual ~Session() = default;

  // Waits briefly for processes that outlive the command, drains every ring, closes the profile.
  virtual absl::StatusOr<SessionResult> Finish(const CommandOutcome& outcome) = 0;

  // Takes in the agent of process `pid`, which has the other end of this connected socket.
  virtual void AddAgent(UniqueFd connection, pid_t pid) = 0;

  virtual SessionProgress Progress() const = 0;

  // Asks every agent, present and future, for `state` (kTracing or kAsleep).
  virtual void RequestState(AgentState state) = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SESSION_H_
