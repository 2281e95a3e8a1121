#include "tools/run/private_folder.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "collector/files/runtime_folder.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

// Leaves room for the folder's and the socket's name in a socket address of 108 bytes.
constexpr size_t kMaxParentBytes = 64;
constexpr std::string_view kName = "/utlz-XXXXXX";
// A younger folder may be about to get its socket.
constexpr time_t kLeastAgeSeconds = 60;

// Whether no process has the socket, or there is none. A listener of the other type is not
// disturbed.
bool IsForsaken(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  path.copy(address.sun_path, path.size());
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return probe.valid() &&
         connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         (errno == ECONNREFUSED || errno == ENOENT);
}

// Folders whose collector was killed.
void RemoveForsaken(const std::string& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path();
    const std::string name = "/" + entry->path().filename().string();
    struct stat folder = {};
    if (name.size() != kName.size() || !name.starts_with("/utlz-") ||
        lstat(path.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode) ||
        folder.st_uid != geteuid() || folder.st_mtime + kLeastAgeSeconds > time(nullptr)) {
      continue;
    }
    const std::string socket = PrivateFolder::SocketIn(path);
    if (!IsForsaken(socket)) continue;
    unlink(socket.c_str());
    rmdir(path.c_str());
  }
}

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  // Its parent is ours too, so that nobody can put another folder in its place.
  const absl::StatusOr<std::string> runtime = RuntimeFolder();
  if (runtime.ok()) RemoveForsaken(*runtime);
  int error = 0;
  for (std::string path : {runtime.value_or(""), std::string("/tmp")}) {
    if (path.empty() || path.size() > kMaxParentBytes) continue;
    path.append(kName);
    if (mkdtemp(path.data()) != nullptr) return PrivateFolder(std::move(path));  // mode 0700
    error = errno;
  }
  return absl::ErrnoToStatus(
      error, "cannot make a private folder for the collector's socket in XDG_RUNTIME_DIR or /tmp");
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) rmdir(path_.c_str());
}

}  // namespace utlz
