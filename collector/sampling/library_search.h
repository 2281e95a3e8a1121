// Where the sampler may load CUPTI from. It holds a privilege, so only places count that nobody but
// root, or the user who started us, could have filled; a path that a target named is never one.
#ifndef UTLZ_COLLECTOR_SAMPLING_LIBRARY_SEARCH_H_
#define UTLZ_COLLECTOR_SAMPLING_LIBRARY_SEARCH_H_

#include <string>
#include <vector>

namespace utlz {

struct LibrarySearchOptions {
  std::string named_path = {};  // named by the user: first, and alone if it is given
  std::string own_folder =
      {};  // folder of our executable; a copy shipped beside us is found from it
  std::string root_directory = "";  // prefix of every searched place, for tests
};

// Paths of libcupti in the order in which to try them: shipped beside us, CUDA toolkits (the newest
// first), the loader's own folders, pip wheels in system-wide Python folders. Only files that
// IsTrustedFile accepts are in it.
std::vector<std::string> CuptiPaths(const LibrarySearchOptions& options);

// A regular file whose owner, and the owner of every folder above it, is root or the user that we
// run as, and which nobody else may write. Symbolic links are followed first.
bool IsTrustedFile(const std::string& path);

// The folder that holds the running executable, without a slash at its end.
std::string OwnFolder();

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_LIBRARY_SEARCH_H_
