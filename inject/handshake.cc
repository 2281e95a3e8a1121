#include "inject/handshake.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "inject/base/peer_user.h"

namespace utlz::inject {
namespace {

bool SendHello(int socket_file, const RunToken* token, int ring_file, uint64_t ring_bytes) {
  AgentHello hello{};
  hello.magic = kHandshakeMagic;
  hello.abi_version = kAgentAbiVersion;
  hello.pid = static_cast<uint64_t>(getpid());
  hello.ring_bytes = ring_bytes;
  if (token != nullptr) memcpy(hello.token, token->agents, sizeof hello.token);
  iovec part{&hello, sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &ring_file, sizeof ring_file);
  return sendmsg(socket_file, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello);
}

bool Meet(int socket_file, const RunToken* token, int ring_file, uint64_t ring_bytes,
          AgentWelcome* welcome) {
  const timeval deadline{1, 0};
  setsockopt(socket_file, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
  setsockopt(socket_file, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
  return SendHello(socket_file, token, ring_file, ring_bytes) &&
         recv(socket_file, welcome, sizeof *welcome, 0) == static_cast<ssize_t>(sizeof *welcome) &&
         welcome->magic == kHandshakeMagic && welcome->abi_version == kAgentAbiVersion &&
         welcome->accepted != 0;
}

}  // namespace

bool MeetCollectorOn(int socket_file, int ring_file, uint64_t ring_bytes, AgentWelcome* welcome) {
  return Meet(socket_file, nullptr, ring_file, ring_bytes, welcome);
}

bool MeetCollector(const char* path, const RunToken* token, int ring_file, uint64_t ring_bytes,
                   AgentWelcome* welcome) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return false;
  strcpy(address.sun_path, path);
  const int socket_file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_file < 0) return false;
  const timeval deadline{1, 0};
  setsockopt(socket_file, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
  const bool met =
      connect(socket_file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ListenerIsOfOwnUser(socket_file) &&
      Meet(socket_file, token, ring_file, ring_bytes, welcome) && token != nullptr &&
      IsSameHalf(welcome->token, token->collectors);
  close(socket_file);
  return met;
}

}  // namespace utlz::inject
