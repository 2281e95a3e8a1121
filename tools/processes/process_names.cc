#include "tools/processes/process_names.h"

#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/attach/target/proc_file.h"

namespace utlz {
namespace {

constexpr size_t kMaxCommandBytes = 60;

}  // namespace

ProcessNames ReadProcessNames(pid_t pid) {
  struct stat folder = {};
  if (stat(absl::StrCat("/proc/", pid).c_str(), &folder) != 0) return {};
  return {.user = UserName(folder.st_uid), .command = CommandLine(pid)};
}

std::string UserName(uid_t user_id) {
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(user_id, &entry, buffer, sizeof(buffer), &found) != 0 || found == nullptr) {
    return absl::StrCat(user_id);
  }
  return attach::PrintableText(entry.pw_name, 32);
}

std::string CommandLine(pid_t pid) {
  auto words = attach::ReadSmallFile(absl::StrCat("/proc/", pid, "/cmdline"), 4096);
  if (!words.ok()) return {};
  while (!words->empty() && words->back() == '\0') words->pop_back();
  std::replace(words->begin(), words->end(), '\0', ' ');
  return attach::PrintableText(*words, kMaxCommandBytes);
}

}  // namespace utlz
