// Look before touching: whether a process can be attached to, and if not, one sentence that says
// why and what to do.
#ifndef UTLZ_TOOLS_ATTACH_PREFLIGHT_H_
#define UTLZ_TOOLS_ATTACH_PREFLIGHT_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/attach/c_library.h"
#include "tools/attach/target/process_facts.h"

namespace utlz::attach {

// What this tool may do, and what the machine permits.
struct Permissions {
  uid_t user_id = 0;               // effective
  bool may_trace_any = false;      // CAP_SYS_PTRACE
  int yama_scope = 0;              // kernel.yama.ptrace_scope; 0 where there is no Yama
};
Permissions ReadPermissions();

// Refuses one that is stopped or frozen: nothing in it runs, an agent neither.
absl::Status CheckNotHalted(const ProcessFacts& facts);

// The verdict on facts alone. Codes: FailedPrecondition (the process's state), PermissionDenied,
// AlreadyExists (an agent is loaded: activate it instead), Unavailable (it may do in a moment).
// Another profiler in the process is no reason to refuse here: the caller sees it in the facts.
absl::Status CheckFacts(const ProcessFacts& facts, const Permissions& permissions);

struct PreflightResult {
  ProcessFacts facts;
  CLibrary c_library;
};

// Reads and checks everything, the process's C library included.
absl::StatusOr<PreflightResult> Preflight(pid_t pid);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_PREFLIGHT_H_
