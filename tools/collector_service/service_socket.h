// The socket of a service: its path, and that it serves one collector at a time.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_SOCKET_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_SOCKET_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/ingest/agent_listener.h"
#include "collector/unique_fd.h"

namespace utlz {

// "collector" in the runtime folder. Errors as RuntimeFolder says.
absl::StatusOr<std::string> DefaultServiceSocket();

// The path in "unix:PATH" or a path, which must begin with a slash and fit into an address.
absl::StatusOr<std::string> ServiceSocketPath(const std::string& place);

// Whether somebody whom an agent of this user would trust listens there now.
bool ServiceListens(const std::string& path);

struct ServiceSocket {
  UniqueFd lock;  // held until the socket is gone
  AgentListener listener;
};

// Listens. The folder must be this user's, and nobody else may write to it. A socket that a killed
// collector left is replaced. Unavailable: another collector serves it.
absl::StatusOr<ServiceSocket> OpenServiceSocket(const std::string& path, AgentUsers users);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_SOCKET_H_
