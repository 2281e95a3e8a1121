// The agent's side of the handshake, well behaved or not.
#ifndef UTLZ_TESTS_SUPPORT_TEST_AGENT_H_
#define UTLZ_TESTS_SUPPORT_TEST_AGENT_H_

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "collector/unique_fd.h"
#include "proto/ring_abi.h"

namespace utlz {

inline UniqueFd ConnectTo(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval patience = {20, 0};  // so that a missing answer fails a test and does not hang it
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  return fd;
}

// Sends `size` bytes with `descriptors` attached.
inline bool SendPacket(int connection, const void* bytes, size_t size,
                       const std::vector<int>& descriptors) {
  iovec part = {const_cast<void*>(bytes), size};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  return sendmsg(connection, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

inline AgentHello MakeHello(uint64_t ring_bytes) {
  AgentHello hello = {};
  hello.magic = kHandshakeMagic;
  hello.abi_version = kAgentAbiVersion;
  hello.pid = static_cast<uint64_t>(getpid());
  hello.ring_bytes = ring_bytes;
  return hello;
}

inline bool SendHello(int connection, uint64_t ring_bytes, int ring_fd) {
  const AgentHello hello = MakeHello(ring_bytes);
  return SendPacket(connection, &hello, sizeof(hello), {ring_fd});
}

// Waits for the collector's answer.
inline std::optional<AgentWelcome> ReceiveWelcome(int connection) {
  AgentWelcome welcome = {};
  if (recv(connection, &welcome, sizeof(welcome), 0) != sizeof(welcome)) return std::nullopt;
  return welcome;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_TEST_AGENT_H_
