#include "collector/ingest/agent_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr int kBacklog = 1024;
constexpr size_t kMaxPending = 64;
constexpr auto kHelloDeadline = std::chrono::seconds(2);
// An agent says hello at once. Where others wait for a place, those that are silent longer give
// way.
constexpr auto kFairShare = std::chrono::milliseconds(50);
// Ours asked for it, and an agent may first have to be loaded into a busy process.
constexpr auto kAdoptedDeadline = std::chrono::seconds(60);
constexpr size_t kMaxDescriptors = 4;  // room for what a confused peer sends, so that we close it

bool Watch(int epoll, int fd) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

// The peer, if its user may hand data to us.
std::optional<ucred> TrustedPeer(int fd, AgentUsers users) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  const bool trusted = users == AgentUsers::kEverybody || credentials.uid == geteuid() ||
                       credentials.uid == 0;
  return trusted ? std::make_optional(credentials) : std::nullopt;
}

// steady_clock is CLOCK_MONOTONIC.
uint64_t MonotonicNs(AgentListener::Clock::time_point time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

UniqueFd OpenPidfd(pid_t pid) {
  if (pid <= 0) return UniqueFd();
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

// Every descriptor in the message, so that none leaks; only one is expected.
std::array<UniqueFd, kMaxDescriptors> TakeDescriptors(msghdr* message, size_t* count) {
  std::array<UniqueFd, kMaxDescriptors> taken;
  *count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t descriptors = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < descriptors && *count < kMaxDescriptors; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
      taken[(*count)++] = UniqueFd(fd);
    }
  }
  return taken;
}

bool HasHungUp(int fd) {
  pollfd entry = {fd, POLLRDHUP, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & (POLLRDHUP | POLLHUP)) != 0;
}

enum class Arrival { kHello, kRubbish, kNothing };

// kHello with `hello` and `ring` set for a message that is exactly that; kNothing where the peer
// has hung up without a word, as one does that only looks whether somebody listens.
Arrival ReceiveHello(int fd, AgentHello* hello, UniqueFd* ring) {
  iovec part = {hello, sizeof(*hello)};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (bytes < 0) return Arrival::kRubbish;
  if (bytes == 0 && message.msg_controllen == 0) return Arrival::kNothing;
  size_t count = 0;
  std::array<UniqueFd, kMaxDescriptors> descriptors = TakeDescriptors(&message, &count);
  if (bytes != static_cast<ssize_t>(sizeof(*hello)) || count != 1) return Arrival::kRubbish;
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return Arrival::kRubbish;
  *ring = std::move(descriptors[0]);
  return hello->magic == kHandshakeMagic ? Arrival::kHello : Arrival::kRubbish;
}

}  // namespace

bool SendWelcome(const AgentHandshake& handshake, const AgentWelcome& welcome) {
  return send(handshake.connection.get(), &welcome, sizeof(welcome), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof(welcome));
}

absl::StatusOr<AgentListener> AgentListener::Listen(const std::string& path, AgentUsers users) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the socket's path ", path, " must have 1 to ", sizeof(address.sun_path) - 1,
                     " bytes"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket_fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_fd.valid()) return absl::ErrnoToStatus(errno, "cannot make the agents' socket");
  if (bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the agents' socket ", path));
  }
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  const mode_t mode = users == AgentUsers::kEverybody ? 0666 : 0600;
  if (chmod(path.c_str(), mode) != 0 || listen(socket_fd.get(), kBacklog) != 0 || !epoll.valid() ||
      !Watch(epoll.get(), socket_fd.get())) {
    const int error = errno;
    unlink(path.c_str());
    return absl::ErrnoToStatus(error, absl::StrCat("cannot listen on ", path));
  }
  return AgentListener(path, std::move(socket_fd), std::move(epoll), users);
}

absl::StatusOr<AgentListener> AgentListener::WithoutSocket() {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return absl::ErrnoToStatus(errno, "cannot wait for agents");
  return AgentListener("", UniqueFd(), std::move(epoll), AgentUsers::kOwn);
}

AgentListener::AgentListener(std::string path, UniqueFd socket, UniqueFd epoll, AgentUsers users)
    : path_(std::move(path)),
      socket_(std::move(socket)),
      epoll_(std::move(epoll)),
      users_(users) {}

AgentListener::~AgentListener() {
  if (socket_.valid()) unlink(path_.c_str());
}

void AgentListener::Poll(Clock::time_point now, const Visitor& visitor) {
  std::array<epoll_event, kMaxPending + 1> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<size_t>(i)].data.fd;
    if (fd == socket_.get()) {
      Accept(now);
    } else {
      ReadHello(fd, visitor);
    }
  }
  DropLate(now);
  if (pending_.size() >= kMaxPending) MakeRoom(now);
  ListenWhileThereIsRoom(now);
}

bool AgentListener::SomebodyWaits() const {
  pollfd entry = {epoll_.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

void AgentListener::ListenWhileThereIsRoom(Clock::time_point now) {
  if (!socket_.valid()) return;
  const bool room = pending_.size() < kMaxPending && pace_.MayListen(MonotonicNs(now));
  if (room == listening_) return;
  epoll_event event = {};
  if (room) event.events = EPOLLIN;
  event.data.fd = socket_.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), &event);
  listening_ = room;
}

void AgentListener::Accept(Clock::time_point now) {
  const uint64_t now_ns = MonotonicNs(now);
  while (pending_.size() < kMaxPending && pace_.MayListen(now_ns)) {
    UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.valid()) {
      if (pace_.Failed(errno, now_ns)) continue;
      return;
    }
    const std::optional<ucred> peer = TrustedPeer(connection.get(), users_);
    if (!peer || !Watch(epoll_.get(), connection.get())) {
      ++refused_;
      pace_.Refused(now_ns);
      continue;
    }
    const int fd = connection.get();
    pending_[fd] =
        Pending{std::move(connection), peer->pid, peer->uid, now + kHelloDeadline, false};
  }
}

void AgentListener::Adopt(UniqueFd connection, pid_t pid, Clock::time_point now) {
  const int fd = connection.get();
  if (Watch(epoll_.get(), fd)) {
    pending_[fd] =
        Pending{std::move(connection), pid, geteuid(), now + kAdoptedDeadline, true};
  }
}

void AgentListener::ReadHello(int fd, const Visitor& visitor) {
  const auto found = pending_.find(fd);
  if (found == pending_.end()) return;
  AgentHandshake handshake;
  handshake.connection = std::move(found->second.connection);
  handshake.pid = found->second.pid;
  handshake.user = found->second.user;
  handshake.adopted = found->second.adopted;
  pending_.erase(found);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  const Arrival arrival = ReceiveHello(fd, &handshake.hello, &handshake.ring);
  if (arrival == Arrival::kRubbish) ++refused_;
  if (arrival != Arrival::kHello) return;
  if (HasHungUp(fd)) {
    ++unanswered_;
    return;
  }
  // The agent waits for our answer, so its identifier cannot have passed to another process.
  handshake.pidfd = OpenPidfd(handshake.pid);
  visitor(std::move(handshake));
}

void AgentListener::MakeRoom(Clock::time_point now) {
  refused_ += std::erase_if(pending_, [now](const auto& entry) {
    return !entry.second.adopted && now >= entry.second.deadline - kHelloDeadline + kFairShare;
  });
}

void AgentListener::DropLate(Clock::time_point now) {
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    if (entry->second.deadline > now) {
      ++entry;
      continue;
    }
    entry = pending_.erase(entry);  // closing it ends the watch
    ++refused_;
  }
}

}  // namespace utlz
