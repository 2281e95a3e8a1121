#include "inject/handshake.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "inject/base/peer_user.h"

namespace utlz::agent {
namespace {

bool SendHello(int socket_file, const RunToken* token, const RingOffer& ring) {
  AgentHello hello{};
  hello.magic = kHandshakeMagic;
  hello.abi_version = kAgentAbiVersion;
  hello.pid = static_cast<uint64_t>(getpid());
  hello.ring_bytes = ring.bytes;
  hello.alone_since_ns = ring.alone_since_ns;
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
  memcpy(CMSG_DATA(rights), &ring.file, sizeof ring.file);
  return sendmsg(socket_file, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof hello);
}

bool Meet(int socket_file, const RunToken* token, const RingOffer& ring, int patience_seconds,
          AgentWelcome* welcome) {
  const timeval deadline{patience_seconds, 0};
  setsockopt(socket_file, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
  setsockopt(socket_file, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
  return SendHello(socket_file, token, ring) &&
         recv(socket_file, welcome, sizeof *welcome, 0) == static_cast<ssize_t>(sizeof *welcome) &&
         welcome->magic == kHandshakeMagic && welcome->abi_version == kAgentAbiVersion &&
         welcome->accepted != 0;
}

}  // namespace

int ConnectToCollector(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  const int socket_file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_file < 0) return -1;
  const timeval deadline{kProgramPatienceSeconds, 0};
  setsockopt(socket_file, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
  if (connect(socket_file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ListenerIsOfOwnUser(socket_file)) {
    return socket_file;
  }
  close(socket_file);
  return -1;
}

bool MeetCollectorOn(int socket_file, const RingOffer& ring, int patience_seconds,
                     AgentWelcome* welcome) {
  return Meet(socket_file, nullptr, ring, patience_seconds, welcome);
}

bool MeetCollector(const char* path, const RunToken* token, const RingOffer& ring,
                   AgentWelcome* welcome) {
  const int socket_file = ConnectToCollector(path);
  if (socket_file < 0) return false;
  const bool met = Meet(socket_file, token, ring, kProgramPatienceSeconds, welcome) &&
                   token != nullptr && IsSameHalf(welcome->token, token->collectors);
  close(socket_file);
  return met;
}

}  // namespace utlz::agent
