// Two connected Unix sockets that keep the bounds of messages.
#ifndef UTLZ_TESTS_SUPPORT_SOCKET_PAIR_H_
#define UTLZ_TESTS_SUPPORT_SOCKET_PAIR_H_

#include <sys/socket.h>

#include <cstdlib>

#include "collector/unique_fd.h"

namespace utlz {

struct SocketPair {
  SocketPair() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours.Reset(ends[0]);
    theirs.Reset(ends[1]);
  }

  UniqueFd ours;
  UniqueFd theirs;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_SOCKET_PAIR_H_
