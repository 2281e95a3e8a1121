// Copies of libcupti that are offered to processes. Functions only.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_OFFERED_CUPTI_H_
#define UTLZ_TOOLS_ATTACH_SESSION_OFFERED_CUPTI_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

// The one that the user named; invalid where `path` is empty. Errors as the kernel says.
absl::StatusOr<UniqueFd> OpenNamedCupti(const std::string& path);

// For processes that have none; invalid where there is none here either.
UniqueFd OpenFoundCupti();

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_OFFERED_CUPTI_H_
