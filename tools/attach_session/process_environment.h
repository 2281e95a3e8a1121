// What a process was started with; what it has changed of its environment since is not seen.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_PROCESS_ENVIRONMENT_H_
#define UTLZ_TOOLS_ATTACH_SESSION_PROCESS_ENVIRONMENT_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace utlz {

// The variable's value in `environment`, entries each ended by a zero byte as in /proc/PID/environ.
std::optional<std::string> FindVariable(absl::string_view environment, absl::string_view name);

// Nothing where the process began without it, has ended, or may not be read.
std::optional<std::string> StartedWith(pid_t pid, absl::string_view name);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_PROCESS_ENVIRONMENT_H_
