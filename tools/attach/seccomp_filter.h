// Whether a thread's seccomp filters let the system calls pass that an attach needs. A forbidden
// call may kill the process, so it has to be known before the first one is made: the filters are
// read from the kernel and run here.
#ifndef UTLZ_TOOLS_ATTACH_SECCOMP_FILTER_H_
#define UTLZ_TOOLS_ATTACH_SECCOMP_FILTER_H_

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

using SeccompFilter = std::vector<sock_filter>;

// The filters of a stopped thread that this thread traces, in the order in which they were
// installed, the newest first. PermissionDenied without CAP_SYS_ADMIN (or if this tool runs under
// a filter itself).
absl::StatusOr<std::vector<SeccompFilter>> ReadSeccompFilters(pid_t tid);

// What one filter returns (SECCOMP_RET_* with its data) for a system call of this architecture.
// Absent where the program is malformed, which the kernel's never is. Exposed for tests.
std::optional<uint32_t> RunSeccompFilter(absl::Span<const sock_filter> filter, int64_t number,
                                         const SyscallArguments& arguments,
                                         uint64_t instruction_pointer);

// OK if everything that the loader injects and that dlopen and the start of a thread do may pass;
// otherwise a sentence that names the first call that may not.
absl::Status CheckSeccompFilters(const std::vector<SeccompFilter>& filters);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_SECCOMP_FILTER_H_
