#include "tools/attach/target_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "collector/files/as_user.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

constexpr const char* kParents[] = {"tmp", "dev/shm", "var/tmp"};
constexpr int kBacklog = 4;

absl::Status FolderError(const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " in its file system"));
}

absl::Status CannotBeItsUser() {
  return absl::PermissionDeniedError("cannot make files for its user");
}

UniqueFd OpenBelow(int root, const char* path) {
  open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof(how))));
}

// By which the kernel judges its access to files: the last of the four numbers.
absl::StatusOr<uint32_t> FileIdentity(const std::string& status_text, const char* field) {
  const std::vector<std::string> numbers = absl::StrSplit(
      StatusField(status_text, field).value_or(""), absl::ByAnyChar("\t "), absl::SkipEmpty());
  uint32_t number = 0;
  if (numbers.size() != 4 || !absl::SimpleAtoi(numbers[3], &number)) {
    return absl::UnavailableError("cannot read whose rights it has");
  }
  return number;
}

std::string RandomName(pid_t pid) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) return "";
  return absl::StrFormat("utlz-attach-%d-%016x", pid, number);
}

}  // namespace

absl::StatusOr<TargetFolder> TargetFolder::Create(pid_t pid) {
  const auto status = ReadSmallFile(absl::StrCat("/proc/", pid, "/status"), 64 << 10);
  if (!status.ok()) return status.status();
  const auto user_id = FileIdentity(*status, "Uid");
  const auto group_id = FileIdentity(*status, "Gid");
  if (!user_id.ok()) return user_id.status();
  if (!group_id.ok()) return group_id.status();
  const UniqueFd root(
      open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return FolderError("look");
  TargetFolder folder;
  // Whatever the process made of its file system, it gains nothing by our rights.
  folder.user_ = {.user_id = *user_id, .group_id = *group_id};
  const AsUser as_user(folder.user_);
  if (!as_user.changed()) return CannotBeItsUser();
  absl::Status failure = absl::UnavailableError("it has no folder for temporary files");
  for (const char* parent : kParents) {
    folder.name_ = RandomName(pid);
    folder.parent_ = OpenBelow(root.get(), parent);
    if (!folder.parent_.valid()) continue;
    if (mkdirat(folder.parent_.get(), folder.name_.c_str(), 0700) != 0) {
      failure = FolderError("make a folder");
      continue;
    }
    folder.path_ = absl::StrCat("/", parent, "/", folder.name_);
    folder.folder_.Reset(openat(folder.parent_.get(), folder.name_.c_str(),
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // An error leaves it to the destructor.
    if (!folder.folder_.valid()) return FolderError("open a folder");
    return folder;
  }
  return failure;
}

TargetFolder::~TargetFolder() {
  if (!parent_.valid() || path_.empty()) return;
  const AsUser as_user(user_);
  if (!as_user.changed()) return;
  for (const std::string& file : files_) unlinkat(folder_.get(), file.c_str(), 0);
  unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
}

absl::Status TargetFolder::WriteFile(const std::string& name, const std::string& text) {
  const AsUser as_user(user_);
  if (!as_user.changed()) return CannotBeItsUser();
  const UniqueFd file(openat(folder_.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
  if (!file.valid()) return FolderError("make a file");
  files_.push_back(name);
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return FolderError("write a file");
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> TargetFolder::Listen(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = absl::StrCat("/proc/self/fd/", folder_.get(), "/", name);
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("the socket's name is too long");
  }
  path.copy(address.sun_path, path.size());
  const AsUser as_user(user_);
  if (!as_user.changed()) return CannotBeItsUser();
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return FolderError("make a socket");
  }
  files_.push_back(name);
  if (listen(listener.get(), kBacklog) != 0) return FolderError("listen");
  return listener;
}

}  // namespace utlz::attach
