// What a tool reads on its way to an agent: a list of sockets as /proc/PID/net/unix has it, in
// which any process may have written names, and the agent's answers.
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/support/fuzz_bytes.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/socket_pair.h"
#include "tests/support/test_agent.h"
#include "tools/attach/agent_link.h"

namespace utlz::attach {
namespace {

constexpr pid_t kProcess = 4711;

void CheckSockets(const std::string& list) {
  for (const AgentSocket& socket : FindAgentSockets(list, kProcess)) {
    const std::string prefix = socket.is_listener ? kListenerNamePrefix : kPairNamePrefix;
    if (!socket.name.starts_with(prefix + std::to_string(kProcess) + "-")) std::abort();
    if (socket.name.find_first_of("\n ") != std::string::npos) std::abort();
  }
}

void CheckAnswer(const std::string& bytes) {
  SocketPair pair;
  SendPacket(pair.theirs.get(), bytes.data(), bytes.size() % 256, {pair.ours.get()});
  pair.theirs.Reset();
  const auto answer = ReceiveAnswer(pair.ours, std::chrono::milliseconds(0));
  if (answer.ok() && (answer->magic != kControlMagic || bytes.size() < sizeof(ControlAnswer))) {
    std::abort();
  }
}

}  // namespace
}  // namespace utlz::attach

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const int open_before = utlz::CountOpenDescriptors();
  utlz::attach::CheckSockets(bytes);
  utlz::attach::CheckAnswer(bytes);
  if (utlz::CountOpenDescriptors() != open_before) std::abort();
  return 0;
}
