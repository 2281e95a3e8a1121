// The library that is to be loaded: read once, then given to each target as a memory file of its
// own with its configuration written in.
#ifndef UTLZ_TOOLS_ATTACH_LIBRARY_FILE_H_
#define UTLZ_TOOLS_ATTACH_LIBRARY_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "proto/attach_abi.h"

namespace utlz::attach {

class LibraryFile {
 public:
  // Reads a shared object of at most 256 MiB that was built for this architecture and holds an
  // AttachConfig (attach_abi.h) of this version.
  static absl::StatusOr<LibraryFile> Open(const std::string& path);

  // A memory file with the library's bytes. `name` shows up in the target's /proc/PID/maps.
  absl::StatusOr<UniqueFd> CreateMemoryFile(const std::string& name) const;
  // Writes the configuration into such a file, and seals it: nobody can change it any more.
  absl::Status Finish(const UniqueFd& memory_file, const AttachConfig& config) const;

 private:
  std::vector<uint8_t> bytes_;
  uint64_t config_offset_ = 0;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_LIBRARY_FILE_H_
