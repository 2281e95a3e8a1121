// Loads a library into a running process that nobody prepared, and leaves the process as it was.
// The recipe, what can go wrong in it and what is guaranteed: docs/design/attach.md.
#ifndef UTLZ_TOOLS_ATTACH_LOADER_H_
#define UTLZ_TOOLS_ATTACH_LOADER_H_

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "tools/attach/library_file.h"
#include "tools/attach/load_options.h"

namespace utlz::attach {

// Blocks until the library is loaded (its constructor has returned) or the attach is refused; the
// target's thread is back at its wait then. SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the
// calling thread meanwhile. Safe to call from several threads for different processes. If the
// target is this process's child, no other thread may wait for it or for any child meanwhile: the
// kernel would tell it of the target's stops.
//
// Errors, all of which leave the target as it was: NotFound (no such process, or it ended),
// FailedPrecondition and PermissionDenied (with the remedy), AlreadyExists (an agent is there),
// Unavailable (no thread could be lent in time; worth another try), Cancelled. Two cannot promise
// that: Aborted (the library could not be loaded; dlopen undid what it had done) and DataLoss (the
// library crashed while it was loaded: the target runs on, but its loader may be locked).
absl::StatusOr<LoadResult> LoadIntoProcess(pid_t pid, const LibraryFile& library,
                                           const LoadOptions& options);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_LOADER_H_
