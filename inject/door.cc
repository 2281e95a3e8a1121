#include "inject/door.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace utlz::inject {
namespace {

constexpr int kBacklog = 8;

bool BindAbstract(int socket_file, const char* prefix) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    return false;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length =
      snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%d-%016llx", prefix,
               static_cast<int>(getpid()), static_cast<unsigned long long>(random));
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  return bind(socket_file, reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

// The process's user, or root.
bool IsTrusted(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

enum class Arrival { kNothing, kRequest, kGone };

// Reads one request without waiting. What comes along with anything else is closed.
Arrival Receive(int socket_file, ControlRequest* request,
                int (*descriptors)[kMaxControlDescriptors]) {
  iovec part{request, sizeof *request};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxControlDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket_file, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Arrival::kNothing : Arrival::kGone;
  uint32_t count = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t sent = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < sent && count < kMaxControlDescriptors; ++i) {
      memcpy(&(*descriptors)[count++], CMSG_DATA(head) + i * sizeof(int), sizeof(int));
    }
  }
  if (size == static_cast<ssize_t>(sizeof *request) && count > 0 &&
      request->magic == kControlMagic && request->version == kControlVersion) {
    return Arrival::kRequest;
  }
  for (uint32_t i = 0; i < count; ++i) close((*descriptors)[i]);
  return Arrival::kGone;
}

void Say(int connection, ControlState state, const AnswerReason& reason) {
  ControlAnswer answer{};
  answer.magic = kControlMagic;
  answer.version = kControlVersion;
  answer.state = static_cast<uint32_t>(state);
  answer.reason = static_cast<uint32_t>(reason.reason);
  answer.reason_detail = reason.detail;
  answer.named_cupti = static_cast<uint32_t>(reason.named_cupti);
  send(connection, &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

void Visit::Close() {
  collector.Close();
  named_cupti.Close();
  cupti.Close();
  connection.Close();
}

void SendAnswer(const Visit& visit, ControlState state, const AnswerReason& reason) {
  if (const int connection = visit.connection.Get(); connection >= 0) {
    Say(connection, state, reason);
  }
}

void Door::Open(OwnDescriptor first, bool listen_too) {
  Add(first);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
    inner_ = OwnDescriptor::Adopt(ends[0]);
    outer_ = OwnDescriptor::Adopt(ends[1]);
    BindAbstract(outer_.Get(), kDoorNamePrefix);
  }
  if (!listen_too) return;
  listener_ =
      OwnDescriptor::Adopt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!BindAbstract(listener_.Get(), kListenerNamePrefix) ||
      listen(listener_.Get(), kBacklog) != 0) {
    listener_.Close();
  }
}

bool Door::Await(Visit* visit) {
  for (;;) {
    pollfd ways[kConnections + 2];
    nfds_t count = 0;
    const auto add = [&](const OwnDescriptor& way) {
      const int number = way.Get();
      if (number >= 0) ways[count++] = {number, POLLIN, 0};
    };
    add(inner_);
    add(listener_);
    for (const OwnDescriptor& connection : connections_) add(connection);
    if (count == 0) return false;
    poll(ways, count, -1);
    if (Serve(visit)) return true;
  }
}

bool Door::Attend(const Visit& visit, uint64_t wait_ns) {
  const int connection = visit.connection.Get();
  pollfd visitor{connection, POLLIN, 0};
  // A tool says nothing more on its connection: whatever happens there is its end.
  const timespec wait{0, static_cast<long>(wait_ns)};
  if (connection < 0 || ppoll(&visitor, 1, &wait, nullptr) > 0) return false;
  Serve(nullptr);
  return true;
}

bool Door::Serve(Visit* visit) {
  ReadDoor();
  AcceptConnection();
  return ReadConnections(visit);
}

void Door::ReadDoor() {
  const int inner = inner_.Get();
  if (inner < 0) return;
  ControlRequest request;
  int descriptors[kMaxControlDescriptors] = {-1, -1, -1};
  switch (Receive(inner, &request, &descriptors)) {
    case Arrival::kNothing:
      return;
    case Arrival::kGone: {
      // A message that is none is read away; an end without the other is of no use.
      pollfd end{inner, 0, 0};
      if (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0) inner_.Close();
      return;
    }
    case Arrival::kRequest:
      break;
  }
  if (request.verb == static_cast<uint32_t>(ControlVerb::kConnect)) {
    Add(OwnDescriptor::Adopt(std::exchange(descriptors[0], -1)));
  }
  for (const int descriptor : descriptors) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Door::AcceptConnection() {
  const int listener = listener_.Get();
  if (listener < 0) return;
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return;
  if (!IsTrusted(connection)) {
    close(connection);
    return;
  }
  Add(OwnDescriptor::Adopt(connection));
}

bool Door::ReadConnections(Visit* visit) {
  for (OwnDescriptor& connection : connections_) {
    const int number = connection.Get();
    if (number < 0) continue;
    ControlRequest request;
    int descriptors[kMaxControlDescriptors] = {-1, -1, -1};
    const Arrival arrival = Receive(number, &request, &descriptors);
    if (arrival == Arrival::kNothing) continue;
    if (arrival == Arrival::kRequest && visit != nullptr &&
        request.verb == static_cast<uint32_t>(ControlVerb::kTrace)) {
      const bool named = request.cupti_is_named != 0;
      *visit = {.connection = std::exchange(connection, {}),
                .collector = OwnDescriptor::Adopt(descriptors[0]),
                .named_cupti = OwnDescriptor::Adopt(named ? descriptors[1] : -1),
                .cupti = OwnDescriptor::Adopt(descriptors[named ? 2 : 1])};
      if (!named && descriptors[2] >= 0) close(descriptors[2]);
      return true;
    }
    if (arrival == Arrival::kRequest) {
      Say(number, ControlState::kBusy, {});
      for (const int descriptor : descriptors) {
        if (descriptor >= 0) close(descriptor);
      }
    }
    connection.Close();
  }
  return false;
}

void Door::Add(OwnDescriptor connection) {
  if (connection.Get() < 0) return;
  for (OwnDescriptor& slot : connections_) {
    if (slot.Get() >= 0) continue;
    slot = connection;
    return;
  }
  OwnDescriptor& oldest = connections_[next_++ % kConnections];
  oldest.Close();
  oldest = connection;
}

void Door::CloseInChild() {
  for (OwnDescriptor* own : {&inner_, &outer_, &listener_}) own->Close();
  for (OwnDescriptor& connection : connections_) connection.Close();
}

}  // namespace utlz::inject
