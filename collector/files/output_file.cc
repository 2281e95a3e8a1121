#include "collector/files/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace utlz {
namespace {

constexpr int kMostTries = 16;  // where others make and remove files of that name meanwhile
constexpr int kCommonFlags = O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
constexpr int kCreateFlags = O_RDWR | O_CREAT | O_EXCL | kCommonFlags;
constexpr size_t kMaxNameBytes = 200;  // of the file's own name, in that of the unfinished one

mode_t ModeFor(const OutputOptions& options, const struct stat* there) {
  const mode_t mode = options.is_private ? 0600 : 0644;
  return there == nullptr ? mode : mode & there->st_mode;
}

std::string UnfinishedName(const std::string& name) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) return "";
  return absl::StrFormat(".%s.utlz-%016x", name.substr(0, kMaxNameBytes), number);
}

bool IsSameFile(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

absl::StatusOr<OutputPlace> FindPlace(const std::string& path, LinksFollowed links,
                                      const OutputOptions& options) {
  return FindOutputPlace(path, {.links = links, .make_folders = options.make_folders});
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path,
                                              const OutputOptions& options) {
  const std::optional<FileUser> user = InvokingUser();
  if (user) {
    const AsUser as_user(*user);
    if (as_user.changed()) {
      absl::StatusOr<OutputPlace> place = FindPlace(path, LinksFollowed::kAll, options);
      absl::StatusOr<OutputFile> file =
          place.ok() ? CreateIn(path, *std::move(place), options) : place.status();
      if (file.ok()) file->user_ = user;
      if (!absl::IsPermissionDenied(file.status())) return file;
    }
  }
  absl::StatusOr<OutputPlace> place =
      FindPlace(path, geteuid() == 0 ? LinksFollowed::kOfRoots : LinksFollowed::kAll, options);
  if (!place.ok()) return place.status();
  return CreateIn(path, *std::move(place), options);
}

absl::StatusOr<OutputFile> OutputFile::CreateIn(const std::string& path, OutputPlace place,
                                                const OutputOptions& options) {
  OutputFile file;
  file.path_ = path;
  file.what_ = options.what;
  file.folder_ = std::move(place.folder);
  file.name_ = std::move(place.name);
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (place.is_open_file && !options.may_replace) {
      if (absl::Status status = file.OpenOpenFile(0); !status.ok()) return status;
      return file;
    }
    const absl::StatusOr<bool> opened = file.TryOpen(options);
    if (!opened.ok()) return opened.status();
    if (*opened) return file;
  }
  return absl::UnavailableError(
      absl::StrCat(path, " is replaced all the time by others; name another file"));
}

absl::Status OutputFile::Failure(const char* what) const {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " the ", what_, " ", path_));
}

// What is there already, pipe or terminal. It has its name.
absl::Status OutputFile::OpenOpenFile(int flags) {
  file_.Reset(openat(folder_.get(), name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | flags));
  struct stat status = {};
  if (!file_.valid() || fstat(file_.get(), &status) != 0) return Failure("write");
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot write the ", what_, " ", path_, ": it is not a regular file"));
}

// False: something changed there meanwhile, and it is worth another look.
absl::StatusOr<bool> OutputFile::TryOpen(const OutputOptions& options) {
  struct stat there = {};
  if (fstatat(folder_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) return Failure("write");
    if (!options.appears_at_once) {
      if (absl::Status status = OpenBeside(options, nullptr); !status.ok()) return status;
      return true;
    }
    file_.Reset(openat(folder_.get(), name_.c_str(), kCreateFlags, ModeFor(options, nullptr)));
    if (!file_.valid()) {
      if (errno == EEXIST) return false;
      return Failure("write");
    }
    made_name_ = name_;
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return Failure("lock");
    return true;
  }
  if (options.must_be_new) {
    return absl::AlreadyExistsError(absl::StrCat(path_, " exists, and is left alone"));
  }
  if (S_ISLNK(there.st_mode)) return false;
  if (!options.may_replace && (S_ISFIFO(there.st_mode) || S_ISCHR(there.st_mode))) {
    // Not through a link that was put in its place since.
    if (absl::Status status = OpenOpenFile(O_NOFOLLOW); !status.ok()) return status;
    return true;
  }
  if (!S_ISREG(there.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write the ", what_, " ", path_, ": it is not a regular file"));
  }
  return TakeExisting(options, there);
}

absl::StatusOr<bool> OutputFile::TakeExisting(const OutputOptions& options,
                                              const struct stat& there) {
  if (options.may_replace) {
    replaced_.Reset(openat(folder_.get(), name_.c_str(), O_RDWR | kCommonFlags));
    if (!replaced_.valid()) {
      if (errno == ENOENT || errno == ELOOP) return false;
      return Failure("write");
    }
    if (flock(replaced_.get(), LOCK_EX | LOCK_NB) != 0) {
      return absl::UnavailableError(
          absl::StrCat(path_,
                       " is being written by another utlz; name another file with -o, as for "
                       "each rank its own"));
    }
    // One who wrote it until now may have put another one in its place.
    if (!StillThere(replaced_.get(), name_)) return false;
    if (!options.may_replace(replaced_.get())) {
      return absl::AlreadyExistsError(
          absl::StrCat(path_, " exists and is not ", options.kind,
                       ", so it is left alone; name another file with -o"));
    }
  }
  if (absl::Status status = OpenBeside(options, &there); !status.ok()) return status;
  return true;
}

absl::Status OutputFile::OpenBeside(const OutputOptions& options, const struct stat* there) {
  const std::string name = UnfinishedName(name_);
  if (name.empty()) return Failure("name");
  file_.Reset(openat(folder_.get(), name.c_str(), kCreateFlags, ModeFor(options, there)));
  if (!file_.valid()) return Failure("write");
  made_name_ = name;
  if (options.may_replace && flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return Failure("lock");
  return absl::OkStatus();
}

bool OutputFile::StillThere(int file, const std::string& name) const {
  struct stat opened = {};
  struct stat there = {};
  return fstat(file, &opened) == 0 &&
         fstatat(folder_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         IsSameFile(opened, there);
}

absl::Status OutputFile::Publish() {
  if (made_name_.empty()) return absl::OkStatus();
  if (made_name_ == name_) {
    made_name_.clear();
    return absl::OkStatus();
  }
  const AsUser as_user(user_.value_or(FileUser{.user_id = geteuid(), .group_id = getegid()}));
  if (!as_user.changed()) return Failure("write");
  struct stat there = {};
  if (replaced_.valid() && !StillThere(replaced_.get(), name_) &&
      (fstatat(folder_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0)) {
    return absl::UnavailableError(
        absl::StrCat("cannot write the ", what_, " ", path_, ": another file is there by now"));
  }
  if (renameat(folder_.get(), made_name_.c_str(), folder_.get(), name_.c_str()) != 0) {
    return Failure("write");
  }
  made_name_.clear();
  replaced_.Reset();
  return absl::OkStatus();
}

absl::Status OutputFile::CheckPlace() const {
  struct stat own = {};
  struct stat there = {};
  if (fstat(file_.get(), &own) != 0) return Failure("find");
  if (stat(path_.c_str(), &there) == 0 && IsSameFile(own, there)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      path_, own.st_nlink == 0 ? " was removed" : " was moved",
      " while it was written; name a file with -o in a place that the command leaves alone"));
}

void OutputFile::Remove() {
  const AsUser as_user(user_.value_or(FileUser{.user_id = geteuid(), .group_id = getegid()}));
  if (as_user.changed() && StillThere(file_.get(), made_name_)) {
    unlinkat(folder_.get(), made_name_.c_str(), 0);
  }
}

OutputFile::~OutputFile() {
  if (folder_.valid() && !made_name_.empty()) Remove();
}

}  // namespace utlz
