#include "inject/control_socket.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "inject/base/clock.h"

namespace utlz::agent {
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

// poll() fails at once in a process that has set its limit of descriptors below theirs, as some do
// that give up their rights.
void WaitOutFailure(int polled, const timespec& wait) {
  if (polled < 0 && errno != EINTR) nanosleep(&wait, nullptr);
}

}  // namespace

void Attachment::Close() {
  collector.Close();
  named_cupti.Close();
  cupti.Close();
  connection.Close();
}

void SendAnswer(const Attachment& attachment, ControlState state, const AnswerReason& reason) {
  if (const int connection = attachment.connection.Get(); connection >= 0) {
    Say(connection, state, reason);
  }
}

void ControlSocket::Open(OwnDescriptor first, bool listen_too) {
  user_at_start_ = UserIds::Now();
  Add({first});
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
    inner_ = OwnDescriptor::Adopt(ends[0]);
    outer_ = OwnDescriptor::Adopt(ends[1]);
    BindAbstract(outer_.Get(), kPairNamePrefix);
  }
  if (!listen_too) return;
  listener_ =
      OwnDescriptor::Adopt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!BindAbstract(listener_.Get(), kListenerNamePrefix) ||
      listen(listener_.Get(), kBacklog) != 0) {
    listener_.Close();
  }
}

bool ControlSocket::WaitForAttachment(Attachment* attachment) {
  for (;;) {
    pollfd ways[kConnections + 2];
    nfds_t count = 0;
    const auto add = [&](int number) {
      if (number >= 0) ways[count++] = {number, POLLIN, 0};
    };
    const uint64_t now_ns = MonotonicNs();
    const bool pauses = listener_.Get() >= 0 && !pace_.MayListen(now_ns);
    add(inner_.Get());
    if (!pauses) add(listener_.Get());
    for (const Connection& connection : connections_) add(connection.socket.Get());
    if (count == 0 && !pauses) return false;
    constexpr uint64_t kMillisecondNs = 1000000;
    const uint64_t pause_ms = (pace_.paused_until_ns() - now_ns) / kMillisecondNs + 1;
    WaitOutFailure(poll(ways, count, pauses ? static_cast<int>(pause_ms) : -1), {1, 0});
    if (Serve(attachment)) return true;
  }
}

bool ControlSocket::StaysConnected(const Attachment& attachment, uint64_t wait_ns) {
  const int connection = attachment.connection.Get();
  pollfd tool{connection, POLLIN, 0};
  // A tool says nothing more on its connection: whatever happens there is its end.
  const timespec wait{0, static_cast<long>(wait_ns)};
  const int ready = connection < 0 ? 1 : ppoll(&tool, 1, &wait, nullptr);
  if (ready > 0) return false;
  WaitOutFailure(ready, wait);
  Serve(nullptr);
  return true;
}

bool ControlSocket::Serve(Attachment* attachment) {
  ReadPair();
  AcceptConnection();
  return ReadConnections(attachment);
}

ControlSocket::Arrival ControlSocket::Receive(int socket_file, Request* request) {
  ControlRequest& words = request->words;
  iovec part{&words, sizeof words};
  // Padding makes room for one more descriptor than that, and the kernel uses it.
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
    for (size_t i = 0; i < sent; ++i) {
      int descriptor = -1;
      memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      if (count < kMaxControlDescriptors) {
        request->descriptors[count++] = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  const bool ours = size >= static_cast<ssize_t>(sizeof words.magic + sizeof words.version) &&
                    words.magic == kControlMagic;
  if (size == static_cast<ssize_t>(sizeof words) && count > 0 && ours &&
      words.version == kControlVersion) {
    return Arrival::kRequest;
  }
  CloseFrom(0, request);
  return ours && words.version != kControlVersion ? Arrival::kOtherRelease : Arrival::kGone;
}

void ControlSocket::CloseFrom(size_t first, Request* request) {
  for (size_t i = first; i < kMaxControlDescriptors; ++i) {
    if (const int number = std::exchange(request->descriptors[i], -1); number >= 0) close(number);
  }
}

void ControlSocket::ReadPair() {
  const int inner = inner_.Get();
  if (inner < 0) return;
  Request request;
  switch (Receive(inner, &request)) {
    case Arrival::kNothing:
      return;
    case Arrival::kOtherRelease:
    case Arrival::kGone: {
      // A malformed message is dropped. A socket pair whose outer end is closed is of no use.
      pollfd end{inner, 0, 0};
      if (poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0) inner_.Close();
      return;
    }
    case Arrival::kRequest:
      break;
  }
  if (request.words.verb == static_cast<uint32_t>(ControlVerb::kConnect)) {
    Add({OwnDescriptor::Adopt(std::exchange(request.descriptors[0], -1))});
  }
  CloseFrom(0, &request);
}

void ControlSocket::AcceptConnection() {
  const uint64_t now_ns = MonotonicNs();
  const int listener = listener_.Get();
  if (listener < 0 || !pace_.MayListen(now_ns)) return;
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) {
    pace_.Failed(errno, now_ns);
    return;
  }
  const Trust trust = TrustInPeer(connection, user_at_start_);
  if (trust != Trust::kTrusted) pace_.Refused(now_ns);
  if (trust == Trust::kStranger) {
    close(connection);
    return;
  }
  // A tool that is not trusted now (Trust::kNotNow) gets its refusal after its request: a
  // connection that is closed before would lose the answer.
  Add({OwnDescriptor::Adopt(connection), true});
}

bool ControlSocket::ReadConnections(Attachment* attachment) {
  for (Connection& connection : connections_) {
    const int number = connection.socket.Get();
    if (number < 0) continue;
    Request request;
    const Arrival arrival = Receive(number, &request);
    if (arrival == Arrival::kNothing) continue;
    if (arrival == Arrival::kOtherRelease) {
      Say(number, ControlState::kRefused, {AgentReason::kOtherRelease});
    }
    const bool taken =
        arrival == Arrival::kRequest && TakeRequest(connection, &request, attachment);
    CloseFrom(0, &request);
    if (taken) {
      connection = {};
      return true;
    }
    connection.socket.Close();
  }
  return false;
}

bool ControlSocket::TakeRequest(const Connection& from, Request* request,
                                Attachment* attachment) const {
  const int connection = from.socket.Get();
  const bool named = request->words.cupti_is_named != 0;
  if (attachment == nullptr || request->words.verb != static_cast<uint32_t>(ControlVerb::kTrace)) {
    Say(connection, ControlState::kBusy, {});
    return false;
  }
  if (from.over_listener) {
    // The process may have changed its user since it accepted.
    if (TrustInPeer(connection, user_at_start_) != Trust::kTrusted) {
      Say(connection, ControlState::kRefused, {AgentReason::kUserChanged});
      return false;
    }
    if (named) {
      Say(connection, ControlState::kRefused, {AgentReason::kLibraryNotTaken});
      return false;
    }
    // To load a library is to run its code, as only who may trace the process can: an older tool
    // brings one for where there is none.
    CloseFrom(1, request);
  }
  const auto take = [&](size_t i) {
    return OwnDescriptor::Adopt(std::exchange(request->descriptors[i], -1));
  };
  *attachment = {.connection = from.socket,
                 .collector = take(0),
                 .named_cupti = named ? take(1) : OwnDescriptor(),
                 .cupti = take(named ? 2 : 1)};
  return true;
}

void ControlSocket::Add(const Connection& connection) {
  if (connection.socket.Get() < 0) return;
  for (Connection& slot : connections_) {
    if (slot.socket.Get() >= 0) continue;
    slot = connection;
    return;
  }
  Connection& oldest = connections_[next_++ % kConnections];
  oldest.socket.Close();
  oldest = connection;
}

void ControlSocket::CloseInChild() {
  for (OwnDescriptor* own : {&inner_, &outer_, &listener_}) own->Close();
  for (Connection& connection : connections_) connection.socket.Close();
}

}  // namespace utlz::agent
