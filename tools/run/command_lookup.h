// Finds the program of a command before anything is set up for it.
#ifndef UTLZ_TOOLS_RUN_COMMAND_LOOKUP_H_
#define UTLZ_TOOLS_RUN_COMMAND_LOOKUP_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace utlz {

// The file that `name` stands for, as execvp would find it. NotFound or PermissionDenied (not
// executable) else, in a shell's words.
absl::StatusOr<std::string> FindCommand(const std::string& name);

// A warning where the kernel starts this file with raised privileges, for which the loader drops
// the variable that brings the agent in.
std::optional<std::string> RaisedPrivilegesWarning(const std::string& path);

// True for an ELF file without an interpreter: nothing can be loaded into it by the CUDA driver's
// usual way unless it loads libcuda itself.
bool IsStaticallyLinked(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_COMMAND_LOOKUP_H_
