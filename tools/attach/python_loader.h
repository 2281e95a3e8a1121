// Has a CPython 3.14 load the library itself, as sys.remote_exec would (PEP 768): for processes
// whose threads all run bytecode, where none can be lent. No thread is stopped.
#ifndef UTLZ_TOOLS_ATTACH_PYTHON_LOADER_H_
#define UTLZ_TOOLS_ATTACH_PYTHON_LOADER_H_

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "tools/attach/library_file.h"
#include "tools/attach/load_options.h"
#include "tools/attach/target_folder.h"

namespace utlz::attach {

// For one thread, and one call of Load().
class PythonLoader {
 public:
  // All references must outlive this object.
  PythonLoader(pid_t pid, int pidfd, const LibraryFile& library, const LoadOptions& options)
      : pid_(pid), pidfd_(pidfd), library_(library), options_(options) {}
  PythonLoader(const PythonLoader&) = delete;
  // Removes the files that the interpreter was to read, once it will not look for them any more.
  ~PythonLoader();

  // Ok: loaded. NotFound: there is no such Python in the process, or the process has ended.
  // FailedPrecondition, Unavailable and others: it was not asked, or the request was taken back;
  // the target is as it was, and the message is a sentence whose subject is the Python. Aborted:
  // the target's loader refused the library.
  absl::Status Load(LoadResult& result);

 private:
  struct Request;

  absl::StatusOr<UniqueFd> AwaitScript(const Request& request, const UniqueFd& listener);
  absl::StatusOr<UniqueFd> AcceptUntil(const UniqueFd& listener, std::chrono::milliseconds wait);
  absl::StatusOr<AttachConfig> ReceiveNumber(const UniqueFd& talk);
  absl::Status AwaitLoaded(const UniqueFd& talk);

  pid_t pid_;
  int pidfd_;
  const LibraryFile& library_;
  const LoadOptions& options_;
  std::optional<TargetFolder> folder_;
  std::optional<std::chrono::steady_clock::time_point> taken_back_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_PYTHON_LOADER_H_
