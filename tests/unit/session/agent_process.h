// A process that meets the collector and then only waits, so that a test can play its agent through
// the ring that they share, and end it as it likes.
#ifndef UTLZ_TESTS_UNIT_SESSION_AGENT_PROCESS_H_
#define UTLZ_TESTS_UNIT_SESSION_AGENT_PROCESS_H_

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "collector/unique_fd.h"
#include "tests/support/test_agent.h"
#include "tests/support/test_ring.h"

namespace utlz {

class AgentProcess {
 public:
  explicit AgentProcess(const std::string& socket_path) {
    int ends[2];
    if (pipe(ends) != 0) return;
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    pid_ = fork();
    if (pid_ == 0) Live(socket_path, write_end.get());
    write_end.Reset();
    AgentWelcome welcome = {};
    if (read(read_end.get(), &welcome, sizeof(welcome)) == sizeof(welcome)) welcome_ = welcome;
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  ~AgentProcess() { Kill(); }

  pid_t pid() const { return pid_; }
  TestRing& ring() { return ring_; }
  const std::optional<AgentWelcome>& welcome() const { return welcome_; }

  // Gone, and reaped, when this returns.
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  [[noreturn]] void Live(const std::string& socket_path, int write_end) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const UniqueFd connection = ConnectTo(socket_path);
    if (SendHello(connection.get(), ring_.bytes(), ring_.fd())) {
      const std::optional<AgentWelcome> welcome = ReceiveWelcome(connection.get());
      if (welcome && write(write_end, &*welcome, sizeof(*welcome)) == sizeof(*welcome)) {
        while (true) pause();
      }
    }
    _exit(1);
  }

  TestRing ring_;
  pid_t pid_ = 0;
  std::optional<AgentWelcome> welcome_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SESSION_AGENT_PROCESS_H_
