// Which running processes a service attaches to by itself. Anybody can name a process, so that a
// rule names more: its user, its control group or its pod, for which the kernel vouches.
//
//   [{"name": "python3.11", "user": "alice"},
//    {"name": "vllm", "cgroup": "/system.slice/vllm.service"},
//    {"name": "tritonserver", "pod": "0f3c2f6e-…"}]
//
// Not thread safe.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_ATTACH_RULES_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_ATTACH_RULES_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

struct AttachRule {
  std::string name;  // of the program's file, or as the kernel has it (at most 15 bytes)
  std::optional<uid_t> user;
  std::string cgroup;   // it, or one below; empty: any
  std::string pod_uid;  // empty: any
};

// What the kernel says of a process.
struct RuleFacts {
  std::string program;  // name of the file that it runs
  std::string thread;   // name of its main thread
  uid_t user = 0;
  std::string cgroup;  // path, of the unified hierarchy
  std::string pod_uid;
};

inline constexpr size_t kMaxRulesBytes = 256 << 10;
inline constexpr size_t kMostRules = 1024;

// InvalidArgument says which rule is wrong, and why. A rule has no other keys than the above.
absl::StatusOr<std::vector<AttachRule>> ParseAttachRules(const std::string& text);

// PermissionDenied: the file is of another user than this one and root, or others may write to it.
absl::StatusOr<std::vector<AttachRule>> ReadAttachRules(const std::string& path);

bool Matches(const AttachRule& rule, const RuleFacts& facts);

// `proc` is "/proc", or what stands for it in a test. Nothing where the process is gone.
std::optional<RuleFacts> ReadRuleFacts(const std::string& proc, pid_t pid);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_ATTACH_RULES_H_
