// Reading /proc: files whose size is not known, written by a kernel about a process that is not
// trusted. Every read is bounded.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_PROC_FILE_H_
#define UTLZ_TOOLS_ATTACH_TARGET_PROC_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"

namespace utlz::attach {

// The first `max_bytes` of a file; an error where it cannot be opened or read.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes);
// The same of a file that is open at its beginning; `path` is for the error's sentence.
absl::StatusOr<std::string> ReadSmallFile(const UniqueFd& file, const std::string& path,
                                          size_t max_bytes);

// A symbolic link's target, absent where it cannot be read.
std::optional<std::string> ReadLink(const std::string& path);

// The value behind "Name:\t" in text like /proc/PID/status, absent if there is no such line.
std::optional<std::string> StatusField(const std::string& status_text, const std::string& name);

// Threads of a process in ascending order, at most `max_threads`; empty if it is gone.
std::vector<pid_t> ThreadsOf(pid_t pid, size_t max_threads);

// The state letter of /proc/PID/task/TID/stat ('R', 'S', 'D', 'T', 't', 'Z' ...).
std::optional<char> ThreadState(pid_t pid, pid_t tid);

// Text with everything but printable ASCII replaced by '?', cut to `max_bytes`: for names that the
// target chose and that end up on a terminal.
std::string PrintableText(const std::string& text, size_t max_bytes);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_PROC_FILE_H_
