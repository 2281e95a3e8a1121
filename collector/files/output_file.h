// The one way in which utlz writes files that a user names: beside their place, and into it only
// once there is something to keep. What was there stays as it is until then.
#ifndef UTLZ_COLLECTOR_FILES_OUTPUT_FILE_H_
#define UTLZ_COLLECTOR_FILES_OUTPUT_FILE_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/files/as_user.h"
#include "collector/files/output_place.h"
#include "collector/unique_fd.h"

namespace utlz {

struct OutputOptions {
  // Whether the file that is there, open for reading, may be replaced. Unset: any file may, pipes
  // and terminals are written to as they are, and two writers may have one file.
  std::function<bool(int fd)> may_replace = {};
  const char* what = "file";     // "profile", for messages
  const char* kind = "";         // what may_replace looks for: "a utlz profile"
  bool must_be_new = false;      // AlreadyExists where anything is there
  bool is_private = false;       // for its owner alone
  bool make_folders = false;     // those that are missing above it
  bool appears_at_once = false;  // where nothing is there yet, it has its name from the start
};

// Where this process is root's, the file is made with the rights of the user who ran sudo or
// pkexec, and is that user's. Where that user may not write there, or nobody else ran us, it is
// root's, and no link of another user is followed on the way.
//
// Not thread safe, but any thread may use it.
class OutputFile {
 public:
  // Unavailable: another utlz writes that file. AlreadyExists: it may not be replaced. Others as
  // FindOutputPlace says. Nothing that was there is changed on any of them.
  static absl::StatusOr<OutputFile> Create(const std::string& path, const OutputOptions& options);

  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  // What was not published is removed.
  ~OutputFile();

  int fd() const { return file_.get(); }

  // Gives the file its name, in place of what was there. Further calls do nothing.
  absl::Status Publish();
  // Of a published file: NotFound if it is no longer at its path, since somebody moved or removed
  // it.
  absl::Status CheckPlace() const;

 private:
  OutputFile() = default;
  static absl::StatusOr<OutputFile> CreateIn(const std::string& path, OutputPlace place,
                                             const OutputOptions& options);
  absl::Status OpenOpenFile(int flags);
  absl::Status OpenBeside(const OutputOptions& options, const struct stat* there);
  absl::StatusOr<bool> TryOpen(const OutputOptions& options);
  absl::StatusOr<bool> TakeExisting(const OutputOptions& options, const struct stat& there);
  absl::Status Failure(const char* what) const;
  bool StillThere(int file, const std::string& name) const;
  void Remove();

  std::string path_;
  const char* what_ = "";
  std::optional<FileUser> user_;  // whose rights made it; unset: ours
  UniqueFd folder_;
  std::string name_;       // in folder_, once published
  std::string made_name_;  // in folder_, until then; empty: nothing of ours is there
  UniqueFd file_;
  UniqueFd replaced_;  // open and locked until the new one has its name
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_OUTPUT_FILE_H_
