// One attempt to load a library through one thread.
#ifndef UTLZ_TOOLS_ATTACH_LOAD_ATTEMPT_H_
#define UTLZ_TOOLS_ATTACH_LOAD_ATTEMPT_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "tools/attach/c_library.h"
#include "tools/attach/library_file.h"
#include "tools/attach/load_options.h"
#include "tools/attach/target/code_memory.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target_staging.h"
#include "tools/attach/thread_choice.h"
#include "tools/attach/traced_thread.h"

namespace utlz::attach {

// Since when dlopen runs in the target, for a thread that watches the attempt. Thread-safe.
class CallInProgress {
 public:
  void Begin() { begin_ = std::chrono::steady_clock::now(); }
  // Absent before Begin().
  std::optional<std::chrono::milliseconds> Elapsed() const {
    const auto begin = begin_.load();
    if (begin == std::chrono::steady_clock::time_point()) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  }

 private:
  std::atomic<std::chrono::steady_clock::time_point> begin_{};
};

// What all attempts on a process have in common.
struct LoadTarget {
  pid_t pid = 0;
  int pidfd = -1;
  bool has_seccomp_filter = false;
  const CLibrary& c_library;
  const LibraryFile& library;
  const LoadOptions& options;
};

// `code` should know the code that the thread's stack points to: it is read while the thread stands
// still otherwise. Must run on a thread that ends soon after. Unavailable and DeadlineExceeded:
// this thread was not to be had in time; the target is as it was, and another attempt may succeed.
// OutOfRange: it must not be lent as long as it stands where it stands.
absl::Status AttemptLoad(const LoadTarget& target, const ThreadCandidate& candidate,
                         const MemoryMap& map, const CodeMemory& code, CallInProgress& call,
                         LoadResult& result);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_LOAD_ATTEMPT_H_
