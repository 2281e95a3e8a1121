#include "tools/attach_session/process_environment.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/attach/target/proc_file.h"

namespace utlz {

std::optional<std::string> FindVariable(absl::string_view environment, absl::string_view name) {
  for (const absl::string_view entry : absl::StrSplit(environment, '\0')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (parts.first == name && entry.size() > name.size()) return std::string(parts.second);
  }
  return std::nullopt;
}

std::optional<std::string> StartedWith(pid_t pid, absl::string_view name) {
  constexpr size_t kMaxEnvironmentBytes = 4 << 20;
  const auto environment =
      attach::ReadSmallFile(absl::StrCat("/proc/", pid, "/environ"), kMaxEnvironmentBytes);
  return environment.ok() ? FindVariable(*environment, name) : std::nullopt;
}

}  // namespace utlz
