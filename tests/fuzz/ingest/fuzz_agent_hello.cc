// What comes to a collector in an agent's place: a hello of any bytes with any number of
// descriptors of any files. No descriptor is kept but one sound ring, and reading that one ends.
//
// Input: for each agent its message, then the files that come along.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "collector/ingest/agent_listener.h"
#include "collector/ingest/ring_reader.h"
#include "tests/support/fuzz_bytes.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/socket_pair.h"
#include "tests/support/test_agent.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

constexpr int kMostAgents = 8;
constexpr size_t kMostFiles = 7;
// As many smallest frames as the ring has room for.
constexpr uint64_t kMostFrames = kRingMinDataBytes / sizeof(FrameHeader);

UniqueFd OpenFile(uint8_t kind, FuzzBytes* input) {
  if (kind % 4 == 0) return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (kind % 4 == 1) return UniqueFd(open("/", O_RDONLY | O_CLOEXEC));
  if (kind % 4 == 2) {
    UniqueFd file(memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(file.get(), input->Take<uint32_t>()) != 0) std::abort();
    if (kind >= 128) fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK);
    return file;
  }
  TestRing ring;
  const std::string_view header = input->TakeBytes(input->Take<uint8_t>());
  if (kind >= 128) std::memcpy(static_cast<void*>(&ring.header()), header.data(), header.size());
  ring.Publish(input->Take<uint32_t>());
  const std::string_view frames = input->TakeBytes(input->Take<uint16_t>());
  ring.Put(0, frames.data(), std::min<size_t>(frames.size(), kRingMinDataBytes));
  return UniqueFd(fcntl(ring.fd(), F_DUPFD_CLOEXEC, 0));
}

std::string TakeHello(FuzzBytes* input) {
  const auto shape = input->Take<uint8_t>();
  if ((shape & 1) == 0) return std::string(input->TakeBytes(shape >> 1));
  AgentHello hello = MakeHello(kRingHeaderBytes + kRingMinDataBytes);
  if ((shape & 2) != 0) hello.ring_bytes = input->Take<uint64_t>();
  return std::string(reinterpret_cast<const char*>(&hello), sizeof(hello));
}

void Answer(AgentHandshake handshake) {
  SendWelcome(handshake, AgentWelcome{});
  absl::StatusOr<RingMapping> mapping =
      RingMapping::Map(handshake.ring.get(), handshake.hello.ring_bytes);
  if (!mapping.ok()) return;
  const uint64_t most_bytes = mapping->data_bytes();
  RingReader reader(*std::move(mapping));
  RingFrame frame;
  uint64_t frames = 0;
  while (reader.Next(&frame) == RingState::kFrame) {
    if (frame.payload.size() > most_bytes || ++frames > kMostFrames) std::abort();
  }
}

void Handshake(FuzzBytes* input, AgentListener* listener) {
  SocketPair pair;
  const std::string hello = TakeHello(input);
  std::vector<UniqueFd> files(input->Take<uint8_t>() % (kMostFiles + 1));
  std::vector<int> descriptors;
  for (UniqueFd& file : files) {
    file = OpenFile(input->Take<uint8_t>(), input);
    descriptors.push_back(file.get());
  }
  SendPacket(pair.theirs.get(), hello.data(), hello.size(), descriptors);
  const auto now = AgentListener::Clock::now();
  listener->Adopt(std::move(pair.ours), getpid(), now);
  listener->Poll(now, Answer);
  listener->Poll(now + std::chrono::hours(1), Answer);
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const int open_before = utlz::CountOpenDescriptors();
  {
    absl::StatusOr<utlz::AgentListener> listener = utlz::AgentListener::WithoutSocket();
    if (!listener.ok()) std::abort();
    utlz::FuzzBytes input(bytes, size);
    for (int i = 0; i < utlz::kMostAgents && !input.empty(); ++i) {
      utlz::Handshake(&input, &*listener);
    }
  }
  if (utlz::CountOpenDescriptors() != open_before) std::abort();
  return 0;
}
