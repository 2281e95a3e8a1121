#include "tools/run/private_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

namespace utlz {
namespace {

// Leaves room for the folder's and the socket's name in a socket address of 108 bytes.
constexpr size_t kMaxParentBytes = 64;

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  int error = 0;
  for (const char* parent : {runtime, "/tmp"}) {
    if (parent == nullptr || parent[0] != '/') continue;
    std::string path(parent);
    if (path.size() > kMaxParentBytes) continue;
    path.append("/utlz-XXXXXX");
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
