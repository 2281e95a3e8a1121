// Opens the files whose code a process has mapped, for reading: its program and its libraries.
//
// The kernel names them (/proc/PID/maps). A name may be another file by the time that it is opened:
// it is looked up inside the process's own root, through no symbolic link, and taken only where it
// is a regular file, and the mapped one or of a process of this process's user. Files of FUSE are
// read for processes of this user alone, since who serves them may never answer. Needs leave to read
// the process's memory map; without it there are none.
//
// Thread safety: each object on one thread.
#ifndef UTLZ_COLLECTOR_SESSION_MAPPED_LIBRARIES_H_
#define UTLZ_COLLECTOR_SESSION_MAPPED_LIBRARIES_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/unique_fd.h"

namespace utlz {

// Of one line of /proc/PID/maps that maps code from a file.
struct CodeMapping {
  uint64_t inode = 0;
  std::string path;  // as the process sees it, absolute
};

// Lines that map no code, no file or a deleted one are skipped. At most 4,096.
std::vector<CodeMapping> ParseCodeMappings(std::string_view maps);

// The file of a mapping, below the folder `root`; invalid where it is not to be read.
// `of_own_user`: the process is this process's user's, who may read as much as this process may.
UniqueFd OpenMapping(int root, const CodeMapping& mapping, bool of_own_user);

class MappedLibraries {
 public:
  static constexpr size_t kMostFiles = 4096;

  // Files of the process that `wanted` says yes to, and that no call has opened before, of whatever
  // process.
  std::vector<UniqueFd> OpenNew(pid_t pid, const std::function<bool(int file)>& wanted);

 private:
  std::set<std::pair<uint64_t, uint64_t>> opened_;  // device and inode
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_MAPPED_LIBRARIES_H_
