#include "collector/sampling/sampler_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "collector/sampling/cuda_driver_table.h"
#include "collector/sampling/system_facts.h"

namespace utlz {
namespace {

constexpr int kBacklog = 16;
constexpr int kMostRefusals = 16;  // in one call, so that nobody can keep it busy
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

// For one that was connected to: who called listen().
std::optional<uid_t> PeerUser(int socket_fd) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace

bool MayBeBelieved(uid_t peer, uid_t own) {
  return peer != kUnknownUser && (peer == own || peer == 0);
}

bool MayReadCounters(uid_t peer, uid_t own, bool open_to_all) {
  return MayBeBelieved(peer, own) || (own == 0 && open_to_all);
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

UniqueFd AcceptSubscriber(int listener) {
  for (int refused = 0; refused < kMostRefusals; ++refused) {
    UniqueFd peer(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!peer.valid()) break;
    const std::optional<uid_t> user = PeerUser(peer.get());
    if (user.has_value() && MayReadCounters(*user, geteuid(), CountersAreOpenToAll(""))) {
      return peer;
    }
  }
  return UniqueFd();
}

absl::StatusOr<UniqueFd> ConnectToSampler(const std::string& uuid) {
  for (const uid_t user : {geteuid(), uid_t{0}}) {
    const AbstractAddress name = AddressFor(uuid, user);
    UniqueFd connection = MakeSocket();
    if (!connection.valid() ||
        connect(connection.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) !=
            0) {
      continue;
    }
    const std::optional<uid_t> peer = PeerUser(connection.get());
    if (peer.has_value() && MayBeBelieved(*peer, geteuid())) return connection;
  }
  return absl::UnavailableError("no sampler of this user or of root can be reached from here");
}

}  // namespace utlz
