// Finds the folder that a path leads to, link by link, so that no other user's link leads root
// somewhere else.
#ifndef UTLZ_COLLECTOR_FILES_OUTPUT_PLACE_H_
#define UTLZ_COLLECTOR_FILES_OUTPUT_PLACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz {

enum class LinksFollowed {
  kAll,      // as the kernel does
  kOfRoots,  // root's alone, where nobody but root could have put them
};

struct OutputPlace {
  UniqueFd folder;   // O_PATH
  std::string name;  // in that folder; no link was there a moment ago
  // What /proc keeps open under that name, no regular file: /dev/stdout leads there.
  bool is_open_file = false;
};

struct OutputPath {
  LinksFollowed links = LinksFollowed::kAll;
  bool make_folders = false;  // those that are missing, for their user alone
};

// FailedPrecondition: a link that is not followed, with the remedy. PermissionDenied, NotFound and
// others: what the kernel says of a folder on the way.
absl::StatusOr<OutputPlace> FindOutputPlace(const std::string& path, const OutputPath& options);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_OUTPUT_PLACE_H_
