// Where the agent lies, relative to this program.
#ifndef UTLZ_TOOLS_RUN_AGENT_LIBRARY_H_
#define UTLZ_TOOLS_RUN_AGENT_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace utlz {

// Names the library that hears a process's NVTX ranges.
inline constexpr char kNvtxInjectionVariable[] = "NVTX_INJECTION64_PATH";

// The folder of the running program, without a slash at its end.
absl::StatusOr<std::string> ExecutableFolder();

// Absolute path of the agent for a program in `executable_folder`. NotFound names the places tried.
absl::StatusOr<std::string> FindAgentLibrary(const std::string& executable_folder);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_AGENT_LIBRARY_H_
