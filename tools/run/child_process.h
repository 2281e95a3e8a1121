// Starts the command.
#ifndef UTLZ_TOOLS_RUN_CHILD_PROCESS_H_
#define UTLZ_TOOLS_RUN_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/signal_relay.h"

namespace utlz {

// NAME and value, added to our environment or replacing what is there.
using EnvironmentAddition = std::pair<std::string, std::string>;

// The child has our standard streams, process group, limits and, but for the additions,
// environment. `path` is the program, command[0] the name that it gets as argv[0]. NotFound or
// PermissionDenied where the kernel refuses to execute it; there is no child then.
absl::StatusOr<pid_t> StartChild(const std::string& path, const std::vector<std::string>& command,
                                 const std::vector<EnvironmentAddition>& additions,
                                 const SignalRelay& signals);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_CHILD_PROCESS_H_
