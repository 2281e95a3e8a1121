#include "tools/run/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "collector/unique_fd.h"

namespace utlz {
namespace {

bool Replaces(const EnvironmentAddition& addition, std::string_view entry) {
  return entry.size() > addition.first.size() && entry[addition.first.size()] == '=' &&
         entry.substr(0, addition.first.size()) == addition.first;
}

std::vector<std::string> MakeEnvironment(const std::vector<EnvironmentAddition>& additions) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [entry](const auto& addition) { return Replaces(addition, *entry); });
    if (!replaced) entries.emplace_back(*entry);
  }
  for (const auto& [name, value] : additions) entries.push_back(absl::StrCat(name, "=", value));
  return entries;
}

// The form that exec wants; valid as long as `strings`.
std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& string : *strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// As execvp does: a file without a known format is a shell script.
std::vector<std::string> ShellCommand(const std::string& path,
                                      const std::vector<std::string>& command) {
  std::vector<std::string> shell = {"/bin/sh", path};
  shell.insert(shell.end(), command.begin() + 1, command.end());
  return shell;
}

absl::Status ExecError(const std::string& name, int error) {
  const std::string sentence = absl::StrCat(name, ": cannot be executed: ", std::strerror(error));
  if (error == ENOENT) {
    return absl::NotFoundError(absl::StrCat(sentence, " (is its interpreter there?)"));
  }
  return absl::PermissionDeniedError(sentence);
}

}  // namespace

absl::StatusOr<pid_t> StartChild(const std::string& path, const std::vector<std::string>& command,
                                 const std::vector<EnvironmentAddition>& additions,
                                 const SignalRelay& signals) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> shell = ShellCommand(path, command);
  std::vector<std::string> environment = MakeEnvironment(additions);
  const std::vector<char*> argument_pointers = Pointers(&arguments);
  const std::vector<char*> shell_pointers = Pointers(&shell);
  const std::vector<char*> environment_pointers = Pointers(&environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);

  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "cannot start another process");
  if (child == 0) {
    // Only async-signal-safe calls from here on: other threads existed at the fork.
    signals.RestoreForChild();
    execve(path.c_str(), argument_pointers.data(), environment_pointers.data());
    if (errno == ENOEXEC) {
      execve(shell_pointers[0], shell_pointers.data(), environment_pointers.data());
    }
    const int error = errno;
    const ssize_t written = write(write_end.get(), &error, sizeof(error));
    _exit(written == sizeof(error) ? 126 : 127);
  }
  write_end.Reset();
  int error = 0;
  ssize_t bytes = 0;
  do {
    bytes = read(read_end.get(), &error, sizeof(error));
  } while (bytes < 0 && errno == EINTR);
  if (bytes != static_cast<ssize_t>(sizeof(error))) return child;
  waitpid(child, nullptr, 0);
  return ExecError(command[0], error);
}

}  // namespace utlz
