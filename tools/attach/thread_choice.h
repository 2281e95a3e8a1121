// Which thread of a process to lend: one in a plain blocking wait, holding nothing that dlopen
// needs. Looks only; touches nothing.
#ifndef UTLZ_TOOLS_ATTACH_THREAD_CHOICE_H_
#define UTLZ_TOOLS_ATTACH_THREAD_CHOICE_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/attach/c_library.h"
#include "tools/attach/stack_scan.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/remote_memory.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

struct ThreadCandidate {
  pid_t tid = 0;
  BlockedCall call;
  // What a look at the stack says while the thread is not stopped. Only clear is certain; the rest
  // may be left over from earlier calls, and is judged exactly once the thread is stopped.
  StackVerdict first_look = StackVerdict::kUnreadable;
};

// How the threads stood when they were last looked at.
struct ThreadCensus {
  int running = 0;      // on a processor, or ready
  int other_calls = 0;  // in a system call that is no plain wait: futex, mmap, ioctl ...
  int waiting = 0;      // in a plain wait
  std::string ToString() const;
};

// Parses /proc/PID/task/TID/syscall. Absent for a running thread. Exposed for tests.
std::optional<BlockedCall> ParseBlockedCall(const std::string& text);

// Whether a system call is a plain wait: epoll, poll, select, sleep, read, receive, accept, pause.
bool IsPlainWait(int64_t number);

// Whether a wait that the kernel ends with EINTR after any stop (epoll, above all) may be started
// again with its own arguments: it has no timeout, or one so short that beginning it anew is not
// felt. Otherwise the program sees the EINTR that every stop and debugger gives it.
bool MayRestart(const BlockedCall& call);

// The threads that may be lent at this moment, best first: clear stacks before others, waits
// without a timeout before those with one, threads before the main thread.
std::vector<ThreadCandidate> FindCandidates(pid_t pid, const MemoryReader& memory,
                                            const MemoryMap& map, const CLibrary& library,
                                            ThreadCensus& census);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_THREAD_CHOICE_H_
