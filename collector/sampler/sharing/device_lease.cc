#include "collector/sampler/sharing/device_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "collector/files/runtime_folder.h"
#include "collector/gpu_uuid.h"
#include "collector/sampler/sharing/sampler_socket.h"

namespace utlz {
namespace {

// Who wrote itself into the file; 0 if that cannot be read or has ended.
pid_t HolderOf(int file) {
  char text[16] = {};
  const ssize_t length = pread(file, text, sizeof(text) - 1, 0);
  int pid = 0;
  if (length <= 0 || !absl::SimpleAtoi(text, &pid) || pid <= 0) return 0;
  return kill(pid, 0) == 0 || errno == EPERM ? pid : 0;
}

absl::Status HeldBy(pid_t holder) {
  return absl::UnavailableError(
      absl::StrCat("the counters are held by another utlz",
                   holder != 0 ? absl::StrCat(" (sampler process ", holder, ")") : ""));
}

absl::Status CannotUse(const std::string& path, const std::string& why) {
  return absl::PermissionDeniedError(
      absl::StrCat("the lock file ", path, " cannot be used (", why, "): remove it"));
}

// No link is followed to it, and nothing is written to what has another name or another owner.
absl::StatusOr<UniqueFd> OpenLockFile(int folder, const std::string& name,
                                      const std::string& path) {
  UniqueFd file(
      openat(folder, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return CannotUse(path, strerror(errno));
  if (!S_ISREG(status.st_mode)) return CannotUse(path, "it is no file");
  if (status.st_uid != geteuid()) return CannotUse(path, "it is another user's");
  if (status.st_nlink != 1) return CannotUse(path, "it has another name too");
  return file;
}

}  // namespace

std::string DeviceLease::DefaultFolder() { return RuntimeFolder().value_or(""); }

absl::StatusOr<DeviceLease> DeviceLease::Take(const std::string& folder, const std::string& uuid) {
  // Asked first: whoever waits for root's holds no lock that others of this user would wait for.
  if (geteuid() != 0) {
    if (const std::optional<SamplerPeer> root = SamplerOf(uuid, 0)) return HeldBy(root->pid);
  }
  const std::string name = absl::StrCat("counters-", FormatGpuUuid(uuid), ".lock");
  const std::string path = absl::StrCat(folder, "/", name);
  const absl::StatusOr<UniqueFd> opened = OpenOwnFolder(folder);
  if (!opened.ok()) return CannotUse(path, std::string(opened.status().message()));
  absl::StatusOr<UniqueFd> file = OpenLockFile(opened->get(), name, path);
  if (!file.ok()) return file.status();
  if (flock(file->get(), LOCK_EX | LOCK_NB) != 0) return HeldBy(HolderOf(file->get()));
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(file->get(), 0) != 0 ||
      pwrite(file->get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // The lock holds all the same; only the name of its holder is missing.
  }
  // One who cannot be asked keeps the counters to itself.
  absl::StatusOr<UniqueFd> listener = ListenForSubscribers(uuid);
  return DeviceLease(*std::move(file), listener.ok() ? *std::move(listener) : UniqueFd());
}

}  // namespace utlz
