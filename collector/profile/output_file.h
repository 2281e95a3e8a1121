// Opens a profile for writing without harming what is already there.
#ifndef UTLZ_COLLECTOR_PROFILE_OUTPUT_FILE_H_
#define UTLZ_COLLECTOR_PROFILE_OUTPUT_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

// A locked, empty file. Errors as ProfileWriter::Open says; nothing is changed on any of them.
absl::StatusOr<UniqueFd> OpenOutputFile(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_PROFILE_OUTPUT_FILE_H_
