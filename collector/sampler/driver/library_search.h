// Where the sampler may load CUPTI from. It holds a privilege, so only places count that nobody but
// root, or the user who started us, could have filled; a path that a target named is never one.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_LIBRARY_SEARCH_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_LIBRARY_SEARCH_H_

#include <string>
#include <vector>

namespace utlz {

struct LibrarySearchOptions {
  std::string named_path = {};  // named by the user: first, and alone if it is given
  std::string own_folder =
      {};  // folder of our executable; a copy shipped beside us is found from it
  // Folders with a lib/ that may hold a Python with wheels, or Conda's libraries; the user's own.
  std::vector<std::string> prefixes = {};
  std::string root_directory = {};  // prefix of every searched place but the above, for tests
};

struct CuptiSearch {
  // In the order in which to try them: shipped beside us, CUDA toolkits (the newest first), the
  // loader's own folders, pip wheels in system-wide Python folders, then what the prefixes hold.
  // Only files that IsTrustedFile accepts, and the one that the user named.
  std::vector<std::string> paths;
  std::vector<std::string> passed_over;  // those that it does not accept
};

CuptiSearch FindCupti(const LibrarySearchOptions& options);

// Everywhere that this process's user may have one. `program_prefix`: one prefix more, or empty.
LibrarySearchOptions UserLibrarySearch(const std::string& named_path,
                                       const std::string& program_prefix);

// The prefixes of this process's user: the folders above those in PATH, and ~/.local. A virtual or
// Conda environment that is active is among them. None where the program runs with raised
// privileges.
std::vector<std::string> UserPrefixes();

// A regular file whose owner, and the owner of every folder above it, is root or the user that we
// run as, and which nobody else may write. With raised privileges, root alone. Symbolic links are
// followed first.
bool IsTrustedFile(const std::string& path);

// The folder that holds the running executable, without a slash at its end.
std::string OwnFolder();

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_LIBRARY_SEARCH_H_
