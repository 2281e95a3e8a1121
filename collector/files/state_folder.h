// Where utlz keeps what is to outlast a run: profiles of a service, history.
#ifndef UTLZ_COLLECTOR_FILES_STATE_FOLDER_H_
#define UTLZ_COLLECTOR_FILES_STATE_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace utlz {

// $XDG_STATE_HOME/utlz/NAME, else ~/.local/state/utlz/NAME, else /var/lib/utlz/NAME, which is also
// where systemd's units keep theirs. Nothing is made.
std::string StateFolder(const std::string& name);

// Makes the folder and those above it that are missing, for their owner alone. What is there stays
// as it is. Errors as the kernel says.
absl::Status MakeFolders(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_STATE_FOLDER_H_
