// Where agents connect: a listening Unix socket, and the first half of the handshake on each of its
// connections (proto/ring_abi.h, docs/design/wire.md). A client that is slow, silent or of another
// user is shut out without delaying the others.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_INGEST_AGENT_LISTENER_H_
#define UTLZ_COLLECTOR_INGEST_AGENT_LISTENER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/listener_pace.h"
#include "proto/ring_abi.h"

namespace utlz {

// An agent that said hello and waits for its welcome.
struct AgentHandshake {
  UniqueFd connection;
  UniqueFd ring;   // not yet examined
  UniqueFd pidfd;  // invalid where the kernel gives none (another pid namespace)
  pid_t pid = 0;   // from the socket's credentials; 0 = in another pid namespace
  uid_t user = 0;  // likewise; of an adopted one, this process's
  AgentHello hello = {};
  bool adopted = false;  // over a connection that this side made, not over the socket
};

// Answers a handshake; nothing is sent twice. False if the agent is gone already.
bool SendWelcome(const AgentHandshake& handshake, const AgentWelcome& welcome);

// Whose agents a socket is for.
enum class AgentUsers {
  kOwn,       // this process's user and root
  kEverybody  // any user of the machine
};

class AgentListener {
 public:
  using Clock = std::chrono::steady_clock;
  using Visitor = std::function<void(AgentHandshake)>;

  // Creates the socket, which nobody but its owner may connect to, unless it is for everybody. The
  // path is removed at the end.
  static absl::StatusOr<AgentListener> Listen(const std::string& path,
                                              AgentUsers users = AgentUsers::kOwn);

  // Only for agents that are handed to Adopt().
  static absl::StatusOr<AgentListener> WithoutSocket();

  AgentListener(AgentListener&& other) noexcept = default;
  ~AgentListener();

  // Readable whenever Poll has something to do, unless the listener pauses: where descriptors have
  // run out it is looked at again by a Poll after a second.
  int fd() const { return epoll_.get(); }

  // Accepts, reads what is there, hands complete hellos to `visitor`, drops what is late. Never
  // waits.
  void Poll(Clock::time_point now, const Visitor& visitor);

  // Whether Poll has something to do just now.
  bool SomebodyWaits() const;

  // A connection whose other end was given to the agent of process `pid`, which will say hello on
  // it before long.
  void Adopt(UniqueFd connection, pid_t pid, Clock::time_point now);

  // Connections that were shut out: of another user, not speaking the protocol, or too slow.
  uint64_t refused() const { return refused_; }
  // Agents that had hung up before their hello was read: each waits a second, then goes on alone.
  uint64_t unanswered() const { return unanswered_; }

 private:
  struct Pending {
    UniqueFd connection;
    pid_t pid = 0;
    uid_t user = 0;
    Clock::time_point deadline;
    bool adopted = false;
  };

  AgentListener(std::string path, UniqueFd socket, UniqueFd epoll, AgentUsers users);
  void Accept(Clock::time_point now);
  void ReadHello(int fd, const Visitor& visitor);
  void DropLate(Clock::time_point now);
  void MakeRoom(Clock::time_point now);
  // While too many connections are pending, or none can be accepted, the backlog must not keep
  // waking us.
  void ListenWhileThereIsRoom(Clock::time_point now);

  std::string path_;
  UniqueFd socket_;
  UniqueFd epoll_;
  AgentUsers users_;
  std::map<int, Pending> pending_;  // by descriptor
  bool listening_ = true;
  ListenerPace pace_;
  uint64_t refused_ = 0;
  uint64_t unanswered_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_INGEST_AGENT_LISTENER_H_
