#include "collector/sampling/device_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/sampling/cuda_driver_table.h"
#include "collector/sampling/sampler_socket.h"

namespace utlz {
namespace {

// Who wrote itself into the file; 0 if that cannot be read. What another user wrote is only shown.
int HolderOf(int file) {
  char text[16] = {};
  const ssize_t length = pread(file, text, sizeof(text) - 1, 0);
  int pid = 0;
  if (length <= 0 || !absl::SimpleAtoi(text, &pid) || pid < 0) return 0;
  return pid;
}

}  // namespace

std::string DeviceLease::DefaultFolder() { return "/tmp"; }

absl::StatusOr<DeviceLease> DeviceLease::Take(const std::string& folder, const std::string& uuid) {
  const std::string path = absl::StrCat(folder, "/utlz-counters-", FormatGpuUuid(uuid), ".lock");
  // No link is followed, and what is there must be a plain file: the folder is open to everybody.
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666));
  // A file of another user opens for reading only; a lock needs no more.
  if (!file.valid()) {
    file.Reset(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  }
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return absl::PermissionDeniedError(
        absl::StrCat("the lock file ", path, " cannot be used (", strerror(errno), "): remove it"));
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const int holder = HolderOf(file.get());
    return absl::UnavailableError(
        absl::StrCat("the counters are held by another utlz",
                     holder != 0 ? absl::StrCat(" (sampler process ", holder, ")") : ""));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // The lock holds all the same; only the name of its holder is missing.
  }
  // One who cannot be asked keeps the counters to itself.
  absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  return DeviceLease(std::move(file), listener.ok() ? *std::move(listener) : UniqueFd());
}

}  // namespace utlz
