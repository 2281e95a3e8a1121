#include "collector/session/mapped_libraries.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr size_t kMostMapsBytes = size_t{16} << 20;

std::string ReadMaps(pid_t pid) {
  const UniqueFd file(open(absl::StrCat("/proc/", pid, "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  std::string maps;
  std::array<char, 65536> part;
  while (file.valid() && maps.size() < kMostMapsBytes) {
    const ssize_t got = read(file.get(), part.data(), part.size());
    if (got <= 0) break;
    maps.append(part.data(), static_cast<size_t>(got));
  }
  return maps;
}

// address permissions offset device inode path; the path may hold spaces.
std::optional<CodeMapping> ParseLine(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::string_view& field : fields) {
    const size_t end = line.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    field = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  CodeMapping mapping;
  const std::string_view inode = fields[4];
  const auto parsed = std::from_chars(inode.data(), inode.data() + inode.size(), mapping.inode);
  if (parsed.ec != std::errc() || mapping.inode == 0) return std::nullopt;
  if (fields[1].size() < 3 || fields[1][2] != 'x') return std::nullopt;
  if (!line.starts_with('/') || line.ends_with(" (deleted)")) return std::nullopt;
  mapping.path = std::string(line);
  return mapping;
}

// Opening a path alone has no effect on what is there, whatever that is.
UniqueFd OpenInside(int root, const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

// Who serves a file system of FUSE may never answer.
bool IsServedByAProcess(int file) {
  struct statfs system;
  return fstatfs(file, &system) != 0 || system.f_type == FUSE_SUPER_MAGIC;
}

}  // namespace

std::vector<CodeMapping> ParseCodeMappings(std::string_view maps) {
  std::vector<CodeMapping> mappings;
  while (!maps.empty() && mappings.size() < MappedLibraries::kMostFiles) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    if (auto mapping = ParseLine(maps.substr(0, end))) mappings.push_back(*std::move(mapping));
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return mappings;
}

UniqueFd OpenMapping(int root, const CodeMapping& mapping, bool of_own_user) {
  const UniqueFd place = OpenInside(root, mapping.path);
  struct stat status;
  if (!place.valid() || fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  // Stacked file systems may tell another inode here than there.
  if (status.st_ino != mapping.inode && !of_own_user) return {};
  if (!of_own_user && IsServedByAProcess(place.get())) return {};
  return UniqueFd(
      open(absl::StrCat("/proc/self/fd/", place.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::vector<UniqueFd> MappedLibraries::OpenNew(pid_t pid,
                                               const std::function<bool(int file)>& wanted) {
  std::vector<UniqueFd> files;
  const std::string folder = absl::StrCat("/proc/", pid);
  const UniqueFd root(open((folder + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat process;
  if (!root.valid() || stat(folder.c_str(), &process) != 0) return files;
  for (const CodeMapping& mapping : ParseCodeMappings(ReadMaps(pid))) {
    if (opened_.size() >= kMostFiles) break;
    UniqueFd file = OpenMapping(root.get(), mapping, process.st_uid == geteuid());
    struct stat status;
    if (!file.valid() || fstat(file.get(), &status) != 0) continue;
    if (!opened_.emplace(status.st_dev, status.st_ino).second) continue;
    if (wanted(file.get())) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace utlz
