#include "collector/files/state_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace utlz {

std::string StateFolder(const std::string& name) {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return absl::StrCat(state, "/utlz/", name);
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return absl::StrCat(home, "/.local/state/utlz/", name);
  return absl::StrCat("/var/lib/utlz/", name);
}

absl::Status MakeFolders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the folder ", part));
    }
    if (end == std::string::npos) break;
  }
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path, " is no folder"));
}

}  // namespace utlz
