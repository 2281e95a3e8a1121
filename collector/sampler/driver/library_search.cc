#include "collector/sampler/driver/library_search.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace utlz {
namespace {

constexpr size_t kMostPrefixes = 64;

std::vector<std::string> Glob(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  return paths;
}

// Numbers inside a path, so that cuda-13.10 comes before cuda-13.9 and libcupti.so.13 before .12.
std::vector<int> VersionOf(const std::string& path) {
  std::vector<int> version;
  for (absl::string_view part : absl::StrSplit(path, absl::ByAnyChar("/-._"), absl::SkipEmpty())) {
    int number = 0;
    if (absl::SimpleAtoi(part, &number)) version.push_back(number);
  }
  return version;
}

std::vector<std::string> NewestFirst(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::pair(VersionOf(a), a) > std::pair(VersionOf(b), b);
  });
  return paths;
}

// For a pattern in which every letter of `path` stands for itself.
std::string Literally(const std::string& path) {
  std::string pattern;
  for (const char letter : path) {
    if (letter == '*' || letter == '?' || letter == '[' || letter == '\\') pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

// A program with raised privileges (set-user-ID, file capabilities) can do what its user cannot.
bool OursIsTrusted() { return getauxval(AT_SECURE) == 0; }

bool OnlyTrustedMayWrite(const struct stat& status) {
  const bool owned = status.st_uid == 0 || (status.st_uid == geteuid() && OursIsTrusted());
  const bool sticky_folder = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  const bool writable_by_others = (status.st_mode & S_IWOTH) != 0 && !sticky_folder;
  const bool writable_by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 &&
                                 !(status.st_gid == getegid() && OursIsTrusted()) &&
                                 !sticky_folder;
  return owned && !writable_by_others && !writable_by_group;
}

std::vector<std::string> Patterns(const LibrarySearchOptions& options) {
  std::vector<std::string> patterns;
  if (!options.own_folder.empty()) {
    patterns.push_back(
        absl::StrCat(Literally(options.own_folder), "/../lib/utlz/libcupti.so.1[23]"));
  }
  for (const char* pattern : {
           "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[23]",
           "/usr/local/cuda*/lib64/libcupti.so.1[23]",
           "/usr/local/cuda*/lib/libcupti.so.1[23]",
           "/usr/local/cuda*/targets/*/lib/libcupti.so.1[23]",
           "/opt/cuda*/extras/CUPTI/lib64/libcupti.so.1[23]",
           "/opt/nvidia/cuda*/lib64/libcupti.so.1[23]",
           "/usr/lib/*-linux-gnu/libcupti.so.1[23]",
           "/usr/lib64/libcupti.so.1[23]",
           "/usr/lib/libcupti.so.1[23]",
           "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1[23]",
           "/usr/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1[23]",
           "/opt/*/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1[23]",
           "/opt/*/*/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1[23]",
       }) {
    patterns.push_back(options.root_directory + pattern);
  }
  for (const std::string& prefix : options.prefixes) {
    for (const char* below :
         {"/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1[23]",
          "/versions/*/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1[23]",
          "/lib/libcupti.so.1[23]"}) {
      patterns.push_back(Literally(prefix) + below);
    }
  }
  return patterns;
}

}  // namespace

bool IsTrustedFile(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return false;
  std::string current = resolved;
  struct stat status;
  if (stat(current.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  while (true) {
    if (stat(current.c_str(), &status) != 0 || !OnlyTrustedMayWrite(status)) return false;
    if (current == "/") return true;
    const size_t slash = current.find_last_of('/');
    current = slash == 0 ? "/" : current.substr(0, slash);
  }
}

std::string OwnFolder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return "";
  const std::string executable(path, static_cast<size_t>(length));
  return executable.substr(0, executable.find_last_of('/'));
}

std::vector<std::string> UserPrefixes() {
  std::vector<std::string> prefixes;
  const char* folders = secure_getenv("PATH");
  for (absl::string_view folder : absl::StrSplit(folders == nullptr ? "" : folders, ':')) {
    while (absl::EndsWith(folder, "/")) folder.remove_suffix(1);
    const size_t slash = folder.rfind('/');
    if (!absl::StartsWith(folder, "/") || slash == 0) continue;
    prefixes.emplace_back(folder.substr(0, slash));
    if (prefixes.size() == kMostPrefixes) break;
  }
  const char* home = secure_getenv("HOME");
  if (home != nullptr && *home == '/') prefixes.push_back(absl::StrCat(home, "/.local"));
  return prefixes;
}

LibrarySearchOptions UserLibrarySearch(const std::string& named_path,
                                       const std::string& program_prefix) {
  LibrarySearchOptions options{.named_path = named_path, .own_folder = OwnFolder()};
  if (!program_prefix.empty()) options.prefixes.push_back(program_prefix);
  for (std::string& prefix : UserPrefixes()) options.prefixes.push_back(std::move(prefix));
  return options;
}

CuptiSearch FindCupti(const LibrarySearchOptions& options) {
  if (!options.named_path.empty()) return {.paths = {options.named_path}, .passed_over = {}};
  CuptiSearch search;
  std::set<std::string> seen;
  for (const std::string& pattern : Patterns(options)) {
    for (const std::string& path : NewestFirst(Glob(pattern))) {
      char resolved[PATH_MAX];
      if (realpath(path.c_str(), resolved) == nullptr || !seen.insert(resolved).second) continue;
      (IsTrustedFile(resolved) ? search.paths : search.passed_over).emplace_back(resolved);
    }
  }
  return search;
}

}  // namespace utlz
