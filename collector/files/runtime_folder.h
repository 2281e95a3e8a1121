// A folder for locks and sockets that lasts no longer than the machine runs, and in which nobody
// but this user (and root) can put anything.
#ifndef UTLZ_COLLECTOR_FILES_RUNTIME_FOLDER_H_
#define UTLZ_COLLECTOR_FILES_RUNTIME_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

// /run/utlz for root. For others $XDG_RUNTIME_DIR/utlz where that is the user's own. Where there is
// none, /tmp/utlz-<user number>. Made where it is missing. PermissionDenied: another user made
// something of that name, or may write there.
absl::StatusOr<std::string> RuntimeFolder();

// The folder, if it is this user's and nobody else may write to it; no link is followed at its end.
absl::StatusOr<UniqueFd> OpenOwnFolder(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_RUNTIME_FOLDER_H_
