#include "collector/files/runtime_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr char kFolderOfRoot[] = "/run/utlz";

absl::StatusOr<std::string> MadeFolder(std::string path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the folder ", path));
  }
  const absl::StatusOr<UniqueFd> folder = OpenOwnFolder(path);
  if (!folder.ok()) return folder.status();
  return path;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenOwnFolder(const std::string& path) {
  UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (!folder.valid() || fstat(folder.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot use the folder ", path));
  }
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the folder ", path, " belongs to user ", status.st_uid,
        status.st_uid == geteuid() ? ", but others may write to it" : "", ": remove it"));
  }
  return folder;
}

absl::StatusOr<std::string> RuntimeFolder() {
  if (geteuid() == 0) {
    absl::StatusOr<std::string> folder = MadeFolder(kFolderOfRoot, 0755);
    if (folder.ok()) return folder;  // else /run is read-only, as in some containers
  }
  const char* runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (geteuid() != 0 && runtime != nullptr && runtime[0] == '/' && OpenOwnFolder(runtime).ok()) {
    return MadeFolder(absl::StrCat(runtime, "/utlz"), 0700);
  }
  return MadeFolder(absl::StrCat("/tmp/utlz-", geteuid()), 0700);
}

}  // namespace utlz
