// Where a sampler that holds a GPU's counters is met by the samplers of other collectors: a unix
// socket with an abstract name, by GPU and user. Anybody may connect to such a name, or take it
// first, so each end asks the kernel who the other is.
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_SAMPLER_SOCKET_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_SAMPLER_SOCKET_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/listener_pace.h"

namespace utlz {

// Whether a sampler of user `own` gives user `peer` what it counts: to its own user and to root;
// root's sampler to everybody where the driver lets everybody count anyway.
bool MayReadCounters(uid_t peer, uid_t own, bool open_to_all);
// Whether a sampler of user `own` accepts one of user `peer`: its own user's and root's.
bool IsTrustedPeer(uid_t peer, uid_t own);

// Listens for this GPU, as the user that runs this. An error where another process has the name.
absl::StatusOr<UniqueFd> ListenForSubscribers(const std::string& uuid);

// Who listens for a GPU, as the kernel knows it.
struct SamplerPeer {
  pid_t pid = 0;  // 0 where it is in another container, or has handed its socket on and ended
  uid_t user = 0;
};
// The sampler of this user, if one listens for this GPU and can be reached from here.
std::optional<SamplerPeer> SamplerOf(const std::string& uuid, uid_t user);
// The same, of whichever user other than this one; the first of them. Anybody may listen under
// such a name: it tells who has the counters only where the hardware says that somebody has.
std::optional<SamplerPeer> SamplerOfAnotherUser(const std::string& uuid);

// The user of the process at the other end of a connected socket.
std::optional<uid_t> PeerUser(int socket_fd);

// The next one who waits and may read the counters; others are turned away, as many as `pace`
// allows. Not valid: nobody. Never waits.
UniqueFd AcceptSubscriber(int listener, uint64_t now_ns, ListenerPace* pace);

// A connection to the sampler of this GPU. Unavailable: there is none of this user's or root's that
// can be reached from here.
absl::StatusOr<UniqueFd> ConnectToSampler(const std::string& uuid);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_SAMPLER_SOCKET_H_
