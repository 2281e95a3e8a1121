#include "tools/collector_service/service_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"

namespace utlz {
namespace {

constexpr char kName[] = "collector";
constexpr char kScheme[] = "unix:";

absl::StatusOr<UniqueFd> Lock(const std::string& path) {
  const std::string lock_path = path + ".lock";
  UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", lock_path));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return absl::UnavailableError(
      absl::StrCat("another collector serves ", path, "; name another socket with --socket"));
}

}  // namespace

absl::StatusOr<std::string> DefaultServiceSocket() {
  const absl::StatusOr<std::string> folder = RuntimeFolder();
  if (!folder.ok()) return folder.status();
  return absl::StrCat(*folder, "/", kName);
}

absl::StatusOr<std::string> ServiceSocketPath(const std::string& place) {
  const bool has_scheme = place.compare(0, sizeof(kScheme) - 1, kScheme) == 0;
  std::string path = has_scheme ? place.substr(sizeof(kScheme) - 1) : place;
  if (path.empty() || path[0] != '/' || path.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        place, " is no socket of a collector: unix:PATH is, with a whole path of at most ",
        sizeof(sockaddr_un::sun_path) - 1, " bytes"));
  }
  return path;
}

bool ServiceListens(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd client(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return client.valid() &&
         connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
         getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == geteuid());
}

absl::StatusOr<ServiceSocket> OpenServiceSocket(const std::string& path, AgentUsers users) {
  const size_t slash = path.rfind('/');
  const absl::StatusOr<UniqueFd> folder = OpenOwnFolder(slash == 0 ? "/" : path.substr(0, slash));
  if (!folder.ok()) return folder.status();
  absl::StatusOr<UniqueFd> lock = Lock(path);
  if (!lock.ok()) return lock.status();
  struct stat there = {};
  if (lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) unlink(path.c_str());
  absl::StatusOr<AgentListener> listener = AgentListener::Listen(path, users);
  if (!listener.ok()) return listener.status();
  return ServiceSocket{*std::move(lock), *std::move(listener)};
}

}  // namespace utlz
