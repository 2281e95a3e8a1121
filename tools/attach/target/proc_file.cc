#include "tools/attach/target/proc_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace utlz::attach {

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  return ReadSmallFile(file, path, max_bytes);
}

absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          size_t max_bytes) {
  std::string text;
  while (text.size() < max_bytes) {
    const size_t old_size = text.size();
    const size_t chunk = std::min<size_t>(65536, max_bytes - old_size);
    text.resize(old_size + chunk);
    const ssize_t count = read(file.get(), text.data() + old_size, chunk);
    text.resize(old_size + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    if (count == 0) break;
  }
  return text;
}

std::optional<std::string> ReadLink(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  if (length < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(length));
}

std::optional<std::string> StatusField(const std::string& status_text, const std::string& name) {
  // Looking for a line start keeps a process from faking a field in its own name.
  const std::string key = absl::StrCat("\n", name, ":");
  const size_t position = status_text.find(key);
  if (position == std::string::npos) return std::nullopt;
  const size_t start = position + key.size();
  const size_t end = status_text.find('\n', start);
  return std::string(absl::StripAsciiWhitespace(status_text.substr(start, end - start)));
}

std::vector<pid_t> ThreadsOf(pid_t pid, size_t max_threads) {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      opendir(absl::StrCat("/proc/", pid, "/task").c_str()), closedir);
  if (directory == nullptr) return threads;
  while (const dirent* entry = readdir(directory.get())) {
    pid_t tid = 0;
    if (threads.size() < max_threads && absl::SimpleAtoi(entry->d_name, &tid)) {
      threads.push_back(tid);
    }
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::optional<char> ThreadState(pid_t pid, pid_t tid) {
  const auto stat = ReadSmallFile(absl::StrCat("/proc/", pid, "/task/", tid, "/stat"), 4096);
  if (!stat.ok()) return std::nullopt;
  // The name in parentheses may hold anything, parentheses included.
  const size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return std::nullopt;
  return (*stat)[name_end + 2];
}

std::string PrintableText(const std::string& text, size_t max_bytes) {
  std::string result = text.substr(0, max_bytes);
  for (char& character : result) {
    if (character < 0x20 || character > 0x7e) character = '?';
  }
  return result;
}

}  // namespace utlz::attach
