// What tools send to an agent that waits for them: messages of any bytes with any number of
// descriptors, on the socket pair and on connections. The agent keeps none of the descriptors, and
// the next tool that asks as it should is served.
//
// Input: steps of a command byte and its operands; see Step().
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "collector/unique_fd.h"
#include "inject/control_socket.h"
#include "tests/support/fuzz_bytes.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/socket_pair.h"
#include "tests/support/test_agent.h"

namespace utlz::agent {
namespace {

// No message waits for room in a socket.
constexpr int kMostSteps = 32;
constexpr size_t kMostMessageBytes = 2 * sizeof(ControlRequest);

// Tools take the outer end of the socket pair out of the process with pidfd_getfd.
int FindPair() {
  constexpr size_t kNameOffset = offsetof(sockaddr_un, sun_path) + 1;
  for (int number = 128; number < 256; ++number) {
    sockaddr_un address = {};
    socklen_t size = sizeof(address);
    if (getsockname(number, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (size <= kNameOffset || address.sun_family != AF_UNIX) continue;
    const std::string_view name(address.sun_path + 1, size - kNameOffset);
    if (name.starts_with(kPairNamePrefix)) return number;
  }
  std::abort();
}

std::string Request(ControlVerb verb, uint32_t cupti_is_named) {
  ControlRequest request = {};
  request.magic = kControlMagic;
  request.version = kControlVersion;
  request.verb = static_cast<uint32_t>(verb);
  request.cupti_is_named = cupti_is_named;
  return std::string(reinterpret_cast<const char*>(&request), sizeof(request));
}

class Tools {
 public:
  Tools() : file_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    SocketPair first;
    agent_.Open(OwnDescriptor::Adopt(first.theirs.Release()), /*listen=*/false);
    connections_.push_back(std::move(first.ours));
    control_socket_ = FindPair();
    SocketPair served;
    served_.connection = OwnDescriptor::Adopt(served.theirs.Release());
    serving_ = std::move(served.ours);
  }

  void Step(FuzzBytes* input) {
    const auto command = input->Take<uint8_t>();
    const UniqueFd& connection = connections_[input->Take<uint8_t>() % connections_.size()];
    switch (command % 6) {
      case 0:
        SendAny(connection.get(), input);
        break;
      case 1:
        SendAny(control_socket_, input);
        break;
      case 2:
        Connect();
        break;
      case 3:
        SendPacket(connection.get(), "", 0, {});
        break;
      case 4:  // another tool is being served
        agent_.StaysConnected(served_, 0);
        break;
      case 5:
        shutdown(connection.get(), SHUT_RDWR);
        break;
    }
  }

  // However the others behaved.
  void BeServed() {
    const UniqueFd& own = Connect();
    const std::string request = Request(ControlVerb::kTrace, 0);
    SendPacket(own.get(), request.data(), request.size(), {file_.get()});
    char byte = 0;
    do {
      Attachment attachment;
      if (!agent_.WaitForAttachment(&attachment) || attachment.connection.Get() < 0) std::abort();
      attachment.Close();
    } while (recv(own.get(), &byte, sizeof(byte), MSG_DONTWAIT) != 0);
  }

  void Leave() {
    served_.Close();
    agent_.CloseInChild();
  }

 private:
  const UniqueFd& Connect() {
    SocketPair pair;
    const std::string request = Request(ControlVerb::kConnect, 0);
    SendPacket(control_socket_, request.data(), request.size(), {pair.theirs.get()});
    connections_.push_back(std::move(pair.ours));
    return connections_.back();
  }

  void SendAny(int socket, FuzzBytes* input) {
    const auto shape = input->Take<uint8_t>();
    const std::vector<int> descriptors(shape >> 2 & 7, file_.get());
    std::string message(input->TakeBytes(input->Take<uint8_t>() % kMostMessageBytes));
    // No input would get past the magic number without help.
    if ((shape & 1) != 0) message = Request(static_cast<ControlVerb>(shape >> 5), shape >> 1 & 1);
    SendPacket(socket, message.data(), message.size(), descriptors);
  }

  UniqueFd file_;
  ControlSocket agent_;
  int control_socket_ = -1;
  std::vector<UniqueFd> connections_;
  Attachment served_;
  UniqueFd serving_;
};

}  // namespace
}  // namespace utlz::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const int open_before = utlz::CountOpenDescriptors();
  {
    utlz::agent::Tools tools;
    utlz::FuzzBytes input(bytes, size);
    for (int i = 0; i < utlz::agent::kMostSteps && !input.empty(); ++i) tools.Step(&input);
    tools.BeServed();
    tools.Leave();
  }
  if (utlz::CountOpenDescriptors() != open_before) std::abort();
  return 0;
}
