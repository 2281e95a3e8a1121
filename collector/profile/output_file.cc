#include "collector/profile/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/frame.h"

namespace utlz {
namespace {

// An existing file may be replaced if it is empty or begins as a profile does.
bool MayBeReplaced(int fd, const struct stat& status) {
  if (status.st_size == 0) return true;
  char magic[sizeof(kProfileMagic)];
  return pread(fd, magic, sizeof(magic), 0) == static_cast<ssize_t>(sizeof(magic)) &&
         std::memcmp(magic, kProfileMagic, sizeof(magic)) == 0;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenOutputFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write the profile ", path));
  }
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot examine ", path));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write the profile ", path, ": it is not a regular file"));
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::UnavailableError(
        absl::StrCat(path, " is being written by another utlz; name another file with -o"));
  }
  if (!MayBeReplaced(fd.get(), status)) {
    return absl::AlreadyExistsError(absl::StrCat(
        path, " exists and is not a utlz profile, so it is left alone; name another file with -o"));
  }
  if (ftruncate(fd.get(), 0) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot empty ", path));
  }
  return fd;
}

}  // namespace utlz
