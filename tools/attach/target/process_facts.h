// What /proc says about a process, without touching it. Every field is a fact at one moment: the
// process may change it right after.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_PROCESS_FACTS_H_
#define UTLZ_TOOLS_ATTACH_TARGET_PROCESS_FACTS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attach/target/memory_map.h"

namespace utlz::attach {

enum class SeccompMode { kNone = 0, kStrict = 1, kFilter = 2 };

struct ProcessFacts {
  pid_t pid = 0;
  std::string name;  // printable
  char state = '?';  // of the main thread: R, S, D, T, t, Z, X
  uid_t user_id = 0;
  pid_t parent_pid = 0;
  pid_t tracer_pid = 0;  // 0: none
  SeccompMode seccomp = SeccompMode::kNone;
  bool is_kernel_thread = false;
  bool is_frozen = false;             // by a control group's freezer
  bool shares_parents_memory = false;  // between vfork and exec
  bool has_proc = false;              // sees a /proc with itself in it
  // Whether the kernel would let this tool trace it, and the error if not.
  bool may_trace = false;
  // Mapped libraries; empty where the map may not be read.
  bool has_cuda_driver = false;
  bool has_agent = false;                 // an agent loaded by attach
  std::vector<std::string> cupti_paths;   // printable
  std::vector<std::string> other_tools;   // libraries of other profilers, printable
};

// NotFound if there is no such process.
absl::StatusOr<ProcessFacts> ReadProcessFacts(pid_t pid);

// Fills the facts that the memory map tells. Exposed for tests.
void AddMappedLibraries(const MemoryMap& map, ProcessFacts& facts);

// Name that the loader gives the agent's memory file, by which a loaded one is recognized.
inline constexpr char kAgentFileName[] = "libutlz_inject.so";

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_PROCESS_FACTS_H_
