// Ceilings that utlz calibrate measured, one JSON file a GPU in the user's
// state folder, by UUID.
#ifndef UTLZ_TOOLS_CALIBRATE_CEILINGS_STORE_H_
#define UTLZ_TOOLS_CALIBRATE_CEILINGS_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/profile.pb.h"

namespace utlz {

// $XDG_STATE_HOME/utlz/ceilings, by default ~/.local/state/utlz/ceilings; empty
// where neither variable is an absolute path.
std::string CeilingsFolder();

// The path of the file that now holds them. The folder is made; an older file
// is replaced whole.
absl::StatusOr<std::string> SaveCeilings(const std::string& folder, const DeviceCeilings& ceilings);

// All that are kept there. Files that are no ceilings are left out.
std::vector<DeviceCeilings> LoadCeilings(const std::string& folder);

// The file's text, and back. InvalidArgument where it is no ceilings.
std::string CeilingsToJson(const DeviceCeilings& ceilings);
absl::StatusOr<DeviceCeilings> CeilingsFromJson(const std::string& json);

}  // namespace utlz

#endif  // UTLZ_TOOLS_CALIBRATE_CEILINGS_STORE_H_
