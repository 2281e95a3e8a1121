// Loads a library into a running process that nobody prepared, and leaves the process as it was.
// The recipe, what can go wrong in it and what is guaranteed: docs/attach.md.
#ifndef UTLZ_TOOLS_ATTACH_LOADER_H_
#define UTLZ_TOOLS_ATTACH_LOADER_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/unique_fd.h"
#include "tools/attach/library_file.h"
#include "tools/attach/process_facts.h"

namespace utlz::attach {

struct LoadOptions {
  // How long to look for a thread that may be lent. The target runs on meanwhile.
  std::chrono::milliseconds search_time{3000};
  // How long a thread may stand still before dlopen is called; then everything is undone.
  std::chrono::microseconds stop_limit{20'000};
  // How long a Python may take to answer the request to load the library itself, before a thread is
  // looked for. 0: it is not asked.
  std::chrono::milliseconds python_patience{250};
  // Handed to the library (AttachConfig::parameters): at most kMaxAttachParameterBytes - 1 bytes,
  // without NUL.
  std::string parameters;
  // Called about once a second while dlopen has not returned, with how long that is: it cannot be
  // abandoned any more. By the thread that called LoadIntoProcess().
  std::function<void(std::chrono::milliseconds)> on_waiting;
  // Asked between attempts, by the same thread: whether to look no further.
  std::function<bool()> is_cancelled;
};

struct LoadResult {
  ProcessFacts facts;      // before the attach
  bool by_python = false;  // its Python loaded the library; no thread was lent or stopped
  pid_t thread_id = 0;     // the thread that was lent
  // Our end of the SOCK_SEQPACKET pair whose other end the library has.
  UniqueFd socket;
  // How long the thread stood still for us before dlopen began, and altogether.
  std::chrono::microseconds stopped_before_call{0};
  std::chrono::microseconds stopped{0};
  int attempts = 0;  // threads stopped, the successful one included
};

// Blocks until the library is loaded (its constructor has returned) or the attach is refused; the
// target's thread is back at its wait then. SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the
// calling thread meanwhile. Safe to call from several threads for different processes. If the
// target is this process's child, no other thread may wait for it or for any child meanwhile: the
// kernel would tell it of the target's stops.
//
// Errors, all of which leave the target as it was: NotFound (no such process, or it ended),
// FailedPrecondition and PermissionDenied (with the remedy), AlreadyExists (an agent is there),
// Unavailable (no thread could be lent in time; worth another try), Cancelled. Two cannot promise that:
// Aborted (the library could not be loaded; dlopen undid what it had done) and DataLoss (the
// library crashed while it was loaded: the target runs on, but its loader may be locked).
absl::StatusOr<LoadResult> LoadIntoProcess(pid_t pid, const LibraryFile& library,
                                           const LoadOptions& options);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_LOADER_H_
