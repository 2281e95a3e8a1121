// Whom the agent accepts at the other end of a Unix socket. The process's effective user alone is
// no measure: a service may work as another user for a while, and keeps its own rights meanwhile.
#ifndef UTLZ_INJECT_BASE_PEER_USER_H_
#define UTLZ_INJECT_BASE_PEER_USER_H_

#include <sys/types.h>

namespace utlz::agent {

// The process's real, effective and saved user.
struct UserIds {
  static UserIds Now();
  bool operator==(const UserIds&) const = default;
  bool AreAll(uid_t user) const { return real == user && effective == user && saved == user; }

  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
};

// The kernel shows all users that a user namespace does not know as this one.
inline constexpr uid_t kUnknownUser = 65534;

enum class Trust {
  kStranger,  // of another user
  kNotNow,    // of the user that this process had at the start, which is not all that it is now
  kTrusted,
};

// Of one who connected to a socket of a process that began as `at_start`. Nobody is trusted while
// the process has other users than then, or while the kernel would let nobody of its user trace it
// (PR_SET_DUMPABLE).
Trust TrustInPeer(int connection, const UserIds& at_start);

// Whether who listens on the socket that this one is connected to is root, or of the process's one
// user.
bool ListenerIsOfOwnUser(int connection);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_PEER_USER_H_
