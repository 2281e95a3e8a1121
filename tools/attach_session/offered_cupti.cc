#include "tools/attach_session/offered_cupti.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "collector/sampler/driver/library_search.h"

namespace utlz {

absl::StatusOr<UniqueFd> OpenNamedCupti(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid()) return file;
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ", which --cupti names, cannot be opened"));
}

UniqueFd OpenFoundCupti() {
  for (const std::string& path : FindCupti(UserLibrarySearch("", "")).paths) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid()) return file;
  }
  return UniqueFd();
}

}  // namespace utlz
