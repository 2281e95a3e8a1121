#include "inject/base/peer_user.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace utlz::agent {
namespace {

bool ReadPeer(int connection, uid_t* user) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  *user = peer.uid;
  return true;
}

// In such a namespace kUnknownUser is a user like any other.
bool NamespaceKnowsAllUsers() {
  const int map = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  if (map < 0) return false;
  char text[64] = "";
  const ssize_t size = read(map, text, sizeof text - 1);
  close(map);
  unsigned inside = 0, outside = 0, count = 0;
  return size > 0 && sscanf(text, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
         outside == 0 && count == UINT32_MAX;
}

}  // namespace

UserIds UserIds::Now() {
  UserIds now;
  getresuid(&now.real, &now.effective, &now.saved);
  return now;
}

Trust TrustInPeer(int connection, const UserIds& at_start) {
  uid_t peer = kUnknownUser;
  if (!ReadPeer(connection, &peer) || peer == kUnknownUser) return Trust::kStranger;
  if (peer != 0 && !at_start.AreAll(peer)) return Trust::kStranger;
  const bool is_as_then = UserIds::Now() == at_start && prctl(PR_GET_DUMPABLE) == 1;
  return is_as_then ? Trust::kTrusted : Trust::kNotNow;
}

bool ListenerIsOfOwnUser(int connection) {
  uid_t peer = kUnknownUser;
  if (!ReadPeer(connection, &peer)) return false;
  if (peer == 0) return true;
  if (peer == kUnknownUser && !NamespaceKnowsAllUsers()) return false;
  return UserIds::Now().AreAll(peer);
}

}  // namespace utlz::agent
