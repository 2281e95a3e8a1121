#include "tools/run/private_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "collector/files/runtime_folder.h"

namespace utlz {
namespace {

// Leaves room for the folder's and the socket's name in a socket address of 108 bytes.
constexpr size_t kMaxParentBytes = 64;

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  // Its parent is ours too, so that nobody can put another folder in its place.
  const absl::StatusOr<std::string> runtime = RuntimeFolder();
  int error = 0;
  for (std::string path : {runtime.value_or(""), std::string("/tmp")}) {
    if (path.empty() || path.size() > kMaxParentBytes) continue;
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
