#include "collector/sampler/sharing/sampler_socket.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/gpu_uuid.h"
#include "collector/sampler/driver/system_files.h"

namespace utlz {
namespace {

constexpr int kBacklog = 16;
constexpr size_t kMostSockets = 100'000;  // lines of the kernel's list that are read
constexpr size_t kMostUsers = 16;
// What the kernel shows for a user whom this namespace does not know: different ones look the same.
constexpr uid_t kUnknownUser = 65534;

struct AbstractAddress {
  sockaddr_un address = {};
  socklen_t size = 0;
};

AbstractAddress AddressFor(const std::string& uuid, uid_t user) {
  AbstractAddress result;
  const std::string name = absl::StrCat("utlz-sampler-", FormatGpuUuid(uuid), "-", user);
  static_assert(sizeof(result.address.sun_path) > 80);
  result.address.sun_family = AF_UNIX;
  // The first byte stays zero: an abstract name.
  name.copy(result.address.sun_path + 1, sizeof(result.address.sun_path) - 1);
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

UniqueFd MakeSocket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::optional<ucred> Peer(int socket_fd) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

// Not valid: nobody listens there, or too many wait.
UniqueFd ConnectTo(const std::string& uuid, uid_t user) {
  const AbstractAddress name = AddressFor(uuid, user);
  UniqueFd connection = MakeSocket();
  if (!connection.valid() ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0) {
    return UniqueFd();
  }
  return connection;
}

// Whose names there are for this GPU, by number.
std::vector<uid_t> UsersThatListen(const std::string& uuid) {
  const std::string begin = absl::StrCat("@utlz-sampler-", FormatGpuUuid(uuid), "-");
  std::vector<uid_t> users;
  std::ifstream sockets("/proc/net/unix");
  size_t lines = 0;
  for (std::string line; lines < kMostSockets && std::getline(sockets, line); ++lines) {
    const size_t name = line.rfind(begin);
    uid_t user = 0;
    if (name == std::string::npos || !absl::SimpleAtoi(line.substr(name + begin.size()), &user) ||
        std::find(users.begin(), users.end(), user) != users.end()) {
      continue;
    }
    users.push_back(user);
    if (users.size() == kMostUsers) break;
  }
  return users;
}

}  // namespace

std::optional<uid_t> PeerUser(int socket_fd) {
  const std::optional<ucred> peer = Peer(socket_fd);
  if (!peer) return std::nullopt;
  return peer->uid;
}

std::optional<SamplerPeer> SamplerOf(const std::string& uuid, uid_t user) {
  const UniqueFd connection = ConnectTo(uuid, user);
  const std::optional<ucred> peer = connection.valid() ? Peer(connection.get()) : std::nullopt;
  if (!peer || peer->uid != user) return std::nullopt;
  const bool lives = peer->pid > 0 && (kill(peer->pid, 0) == 0 || errno == EPERM);
  return SamplerPeer{.pid = lives ? peer->pid : 0, .user = user};
}

std::optional<SamplerPeer> SamplerOfAnotherUser(const std::string& uuid) {
  for (const uid_t user : UsersThatListen(uuid)) {
    if (user == geteuid()) continue;
    if (std::optional<SamplerPeer> peer = SamplerOf(uuid, user)) return peer;
  }
  return std::nullopt;
}

bool IsTrustedPeer(uid_t peer, uid_t own) {
  return peer != kUnknownUser && (peer == own || peer == 0);
}

bool MayReadCounters(uid_t peer, uid_t own, bool open_to_all) {
  return IsTrustedPeer(peer, own) || (own == 0 && open_to_all);
}

absl::StatusOr<UniqueFd> ListenForSubscribers(const std::string& uuid) {
  const AbstractAddress name = AddressFor(uuid, geteuid());
  UniqueFd listener = MakeSocket();
  if (!listener.valid() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, "the counters cannot be shared with other collectors");
  }
  return listener;
}

UniqueFd AcceptSubscriber(int listener, uint64_t now_ns, ListenerPace* pace) {
  while (pace->MayListen(now_ns)) {
    UniqueFd peer(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!peer.valid()) {
      if (pace->Failed(errno, now_ns)) continue;
      break;
    }
    const std::optional<uid_t> user = PeerUser(peer.get());
    if (user.has_value() && MayReadCounters(*user, geteuid(), CountersAreOpenToAll(""))) {
      return peer;
    }
    pace->Refused(now_ns);
  }
  return UniqueFd();
}

absl::StatusOr<UniqueFd> ConnectToSampler(const std::string& uuid) {
  for (const uid_t user : {geteuid(), uid_t{0}}) {
    UniqueFd connection = ConnectTo(uuid, user);
    if (!connection.valid()) continue;
    const std::optional<uid_t> peer = PeerUser(connection.get());
    if (peer.has_value() && IsTrustedPeer(*peer, geteuid())) return connection;
  }
  return absl::UnavailableError("no sampler of this user or of root can be reached from here");
}

}  // namespace utlz
