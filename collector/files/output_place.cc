#include "collector/files/output_place.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace utlz {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

absl::Status CannotWrite(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

// Nobody but root can put a link into this folder, or replace one of root's there.
bool KeepsRootsLinks(const struct stat& folder) {
  const bool others_write = (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return folder.st_uid == 0 && (!others_write || (folder.st_mode & S_ISVTX) != 0);
}

class Walk {
 public:
  Walk(const std::string& path, const OutputPath& options) : path_(path), options_(options) {}

  absl::StatusOr<OutputPlace> Run() {
    folder_.Reset(open(path_.starts_with('/') ? "/" : ".", kFolderFlags));
    if (!folder_.valid()) return CannotWrite(path_);
    PutFirst(path_);
    while (!names_.empty()) {
      const std::string name = std::move(names_.front());
      names_.pop_front();
      if (name.empty() || name == ".") continue;
      const absl::Status status = Pass(name);
      if (!status.ok()) return status;
      if (found_) return *std::move(found_);
    }
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path_, ": it is a folder"));
  }

 private:
  void PutFirst(std::string_view path) {
    const std::vector<std::string> parts = absl::StrSplit(std::string(path), '/');
    names_.insert(names_.begin(), parts.begin(), parts.end());
  }

  absl::Status Pass(const std::string& name) {
    const UniqueFd entry(openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status = {};
    if (entry.valid() && fstat(entry.get(), &status) != 0) return CannotWrite(path_);
    if (entry.valid() && S_ISLNK(status.st_mode)) return Follow(name, entry.get(), status);
    if (!entry.valid() && errno != ENOENT) return CannotWrite(path_);
    if (names_.empty() && name != "..") {
      found_ = OutputPlace{.folder = std::move(folder_), .name = name};
      return absl::OkStatus();
    }
    return Enter(name);
  }

  absl::Status Enter(const std::string& name) {
    UniqueFd next(openat(folder_.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
    if (!next.valid() && errno == ENOENT && options_.make_folders &&
        (mkdirat(folder_.get(), name.c_str(), 0700) == 0 || errno == EEXIST)) {
      next.Reset(openat(folder_.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
    }
    if (!next.valid()) return CannotWrite(path_);
    folder_ = std::move(next);
    return absl::OkStatus();
  }

  absl::Status Follow(const std::string& name, int link, const struct stat& status) {
    if (++links_ > kMostLinks) {
      errno = ELOOP;
      return CannotWrite(path_);
    }
    struct stat folder = {};
    if (fstat(folder_.get(), &folder) != 0) return CannotWrite(path_);
    if (options_.links == LinksFollowed::kOfRoots &&
        (status.st_uid != 0 || !KeepsRootsLinks(folder))) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot write ", path_, ": root does not follow the link ", name,
                       ", which user ", status.st_uid != 0 ? status.st_uid : folder.st_uid,
                       " may change; name the place that it leads to, or run utlz as that user"));
    }
    struct statfs system = {};
    if (fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      const std::optional<absl::Status> done = FollowOpenFile(name);
      if (done) return *done;
    }
    char target[PATH_MAX];
    const ssize_t length = readlinkat(link, "", target, sizeof(target));
    if (length < 0) return CannotWrite(path_);
    const std::string_view text(target, static_cast<size_t>(length));
    if (text.starts_with('/')) {
      folder_.Reset(open("/", kFolderFlags));
      if (!folder_.valid()) return CannotWrite(path_);
    }
    PutFirst(text);
    return absl::OkStatus();
  }

  // A link in /proc may lead to a pipe or to a folder by no text. None: it leads by its text.
  std::optional<absl::Status> FollowOpenFile(const std::string& name) {
    UniqueFd file(openat(folder_.get(), name.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return CannotWrite(path_);
    if (S_ISREG(status.st_mode)) return std::nullopt;
    if (S_ISDIR(status.st_mode)) {
      folder_ = std::move(file);
    } else {
      found_ = OutputPlace{.folder = std::move(folder_), .name = name, .is_open_file = true};
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const OutputPath& options_;
  UniqueFd folder_;
  std::deque<std::string> names_;
  std::optional<OutputPlace> found_;
  int links_ = 0;
};

}  // namespace

absl::StatusOr<OutputPlace> FindOutputPlace(const std::string& path, const OutputPath& options) {
  return Walk(path, options).Run();
}

}  // namespace utlz
