#include "tools/run/command_lookup.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

constexpr std::string_view kDefaultPath = "/bin:/usr/bin";  // execvp's, where PATH is not set
constexpr int kMaxProgramHeaders = 256;

// 0, or why the file cannot be executed.
int ExecutableError(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

absl::Status LookupError(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(name, ": command not found"));
  }
  return absl::PermissionDeniedError(
      absl::StrCat(name, ": cannot be executed: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> FindCommand(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int error = ExecutableError(name);
    if (error != 0) return LookupError(name, error);
    return name;
  }
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? std::string_view(variable) : kDefaultPath;
  int error = ENOENT;
  while (!name.empty()) {
    const size_t end = folders.find(':');
    const std::string_view folder = folders.substr(0, end);
    const std::string path = folder.empty() ? name : std::string(folder).append("/").append(name);
    const int found = ExecutableError(path);
    if (found == 0) return path;
    if (found == EACCES) error = EACCES;
    if (end == std::string_view::npos) break;
    folders.remove_prefix(end + 1);
  }
  return LookupError(name, error);
}

std::optional<std::string> RaisedPrivilegesWarning(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
  const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
  const bool capabilities =
      geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (!other_user && !other_group && !capabilities) return std::nullopt;
  const char* how = other_user ? "set-user-ID" : other_group ? "set-group-ID" : "file capabilities";
  return absl::StrCat(path, " starts with raised privileges (", how,
                      "), so the agent cannot get into it; profile the program that it starts "
                      "instead, or run utlz as that user");
}

bool IsStaticallyLinked(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Elf64_Ehdr header = {};
  if (!fd.valid() || pread(fd.get(), &header, sizeof(header), 0) != sizeof(header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  for (int i = 0; i < header.e_phnum && i < kMaxProgramHeaders; ++i) {
    Elf64_Phdr segment = {};
    const off_t offset =
        static_cast<off_t>(header.e_phoff) + i * static_cast<off_t>(sizeof(segment));
    if (pread(fd.get(), &segment, sizeof(segment), offset) != sizeof(segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace utlz
