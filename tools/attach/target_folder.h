// A folder of ours that another process can open files in: in its own view of the file system, made
// with the rights of its user and closed to all others.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_FOLDER_H_
#define UTLZ_TOOLS_ATTACH_TARGET_FOLDER_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/files/as_user.h"
#include "collector/unique_fd.h"

namespace utlz::attach {

class TargetFolder {
 public:
  // Below /tmp, /dev/shm or /var/tmp, as the process sees them. No symbolic link is followed on the
  // way: the process may have made it.
  static absl::StatusOr<TargetFolder> Create(pid_t pid);

  TargetFolder(TargetFolder&&) = default;
  // Removes the files and the folder.
  ~TargetFolder();

  // As the process sees it.
  const std::string& path() const { return path_; }

  // A file that its owner may read and nobody may write.
  absl::Status WriteFile(const std::string& name, const std::string& text);
  // A SOCK_SEQPACKET listener that does not block.
  absl::StatusOr<UniqueFd> Listen(const std::string& name);

 private:
  TargetFolder() = default;

  UniqueFd parent_;
  UniqueFd folder_;
  std::string path_;
  std::string name_;
  FileUser user_;
  std::vector<std::string> files_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_FOLDER_H_
