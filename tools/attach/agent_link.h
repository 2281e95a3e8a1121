// How a tool talks to an agent that is in a process already (proto/attach_control.h).
#ifndef UTLZ_TOOLS_ATTACH_AGENT_LINK_H_
#define UTLZ_TOOLS_ATTACH_AGENT_LINK_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/attach_control.h"

namespace utlz::attach {

enum class AgentPresence {
  kAbsent,
  kInactive,
  kActive,         // a tool is being served
  kOfRun,          // that of `utlz run`, which serves nobody else
  kWithoutThread,  // the library is there, its thread is not: a child of fork, or it has ended
};

// What a process's thread names and maps say; anybody may ask. Absent too where the process is
// gone or its maps may not be read.
AgentPresence ReadAgentPresence(pid_t pid);
const char* PresenceName(AgentPresence presence);

// One line of /proc/PID/net/unix that is a way to an agent.
struct AgentSocket {
  bool is_listener = false;  // else a socket pair
  std::string name;          // abstract, without the leading zero byte
  uint64_t inode = 0;
};
// `process_id` as the process itself sees it. Exposed for tests.
std::vector<AgentSocket> FindAgentSockets(const std::string& net_unix, pid_t process_id);

// A connection to the waiting agent of a process, through its socket pair, which takes the right to
// trace the process, or through its listener, which takes no libraries.
struct AgentConnection {
  UniqueFd socket;
  bool takes_libraries = false;
};

// Root comes through the socket pair first, others through the listener; who brings a library only
// through the socket pair. NotFound if there is no such way in.
absl::StatusOr<AgentConnection> ConnectToAgent(pid_t pid, bool with_library);

// Descriptors of libcuptis, -1: none.
struct CuptiOffer {
  int named = -1;        // by the user: to load before any other
  int last_resort = -1;  // to load where there is none
};

// Asks for tracing: the agent will meet the collector on `collector`.
absl::Status AskToTrace(const UniqueFd& connection, int collector, const CuptiOffer& cupti);

// The agent's next word. DeadlineExceeded if it says nothing in time, Aborted if it hung up,
// InvalidArgument if it makes no sense.
absl::StatusOr<ControlAnswer> ReceiveAnswer(const UniqueFd& connection,
                                            std::chrono::milliseconds patience);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_AGENT_LINK_H_
