// A folder that nobody else can enter, for the collector's socket.
#ifndef UTLZ_TOOLS_RUN_PRIVATE_FOLDER_H_
#define UTLZ_TOOLS_RUN_PRIVATE_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace utlz {

// Removed, if empty by then, at the end of its life.
class PrivateFolder {
 public:
  // Under RuntimeFolder(), else /tmp. Removes those there whose collectors were killed.
  static absl::StatusOr<PrivateFolder> Make();

  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }
  static std::string SocketIn(const std::string& folder) { return folder + "/agents"; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_PRIVATE_FOLDER_H_
