// What a collector, or whatever listens in its place, gives to an agent: the answer to its hello,
// and the words in the ring that ask for windows.
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "inject/handshake.h"
#include "inject/tracing/collectors_window.h"
#include "inject/tracing/trace_budget.h"
#include "tests/support/fuzz_bytes.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/socket_pair.h"
#include "tests/support/test_agent.h"

namespace utlz::agent {
namespace {

constexpr int kMostSteps = 256;

// An answer of any size with any number of descriptors.
bool Meet(FuzzBytes* input, AgentWelcome* welcome) {
  SocketPair pair;
  const UniqueFd ring(memfd_create("ring", MFD_CLOEXEC));
  const auto shape = input->Take<uint8_t>();
  std::string answer(input->TakeBytes(shape >> 1 & 127));
  if ((shape & 1) != 0) {
    AgentWelcome honest = input->Take<AgentWelcome>();
    honest.magic = kHandshakeMagic;
    honest.abi_version = kAgentAbiVersion;
    answer.assign(reinterpret_cast<const char*>(&honest), sizeof(honest));
  }
  const std::vector<int> descriptors(input->Take<uint8_t>() % 4, ring.get());
  SendPacket(pair.ours.get(), answer.data(), answer.size(), descriptors);
  shutdown(pair.ours.get(), SHUT_WR);
  return MeetCollectorOn(pair.theirs.get(), {ring.get(), kRingHeaderBytes}, kProgramPatienceSeconds,
                         welcome);
}

void CheckWindow(const PlannedWindow& window, uint64_t now_ns) {
  if (window.end_ns == 0) return;
  if (window.begin_ns >= window.end_ns || window.end_ns <= now_ns) std::abort();
  if (window.end_ns - window.begin_ns > kLongestPlannedWindowNs) std::abort();
}

void FollowWindows(FuzzBytes* input, const AgentWelcome& welcome) {
  uint64_t now_ns = 2 * kLongestPlannedWindowNs;
  uint64_t launches = 0;
  TraceBudget budget = TraceBudget::ForAttachment();
  budget.Start(now_ns, welcome.overhead_budget_ppm);
  RingControl control = {};
  for (int i = 0; i < kMostSteps && !input->empty(); ++i) {
    // The real time is never the smaller one.
    const uint64_t realtime_ns = now_ns + (input->Take<uint64_t>() >> 2);
    control.window_begin_ns = realtime_ns + input->Take<uint64_t>();
    control.window_end_ns = control.window_begin_ns + input->Take<uint32_t>();
    const PlannedWindow window = CollectorsWindow(control, realtime_ns, now_ns);
    CheckWindow(window, now_ns);
    launches += input->Take<uint16_t>();
    budget.ShouldTrace(now_ns, launches, 0, window);
    budget.ReadyNs(now_ns);
    now_ns += input->Take<uint32_t>();
  }
}

}  // namespace
}  // namespace utlz::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace utlz;
  const int open_before = CountOpenDescriptors();
  FuzzBytes input(bytes, size);
  AgentWelcome welcome = {};
  if (agent::Meet(&input, &welcome)) {
    if (welcome.magic != kHandshakeMagic || welcome.accepted == 0) std::abort();
    agent::FollowWindows(&input, welcome);
  }
  if (CountOpenDescriptors() != open_before) std::abort();
  return 0;
}
