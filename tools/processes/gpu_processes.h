// The processes of this machine that use a GPU, as far as this user may see.
#ifndef UTLZ_TOOLS_PROCESSES_GPU_PROCESSES_H_
#define UTLZ_TOOLS_PROCESSES_GPU_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/attach/agent_link.h"

namespace utlz {

struct GpuProcess {
  pid_t pid = 0;
  std::set<unsigned> gpus;               // NVML's numbers; empty where NVML does not tell
  std::optional<uint64_t> memory_bytes;  // on all of them together
  std::string user;                      // name, or number
  std::string command;                   // printable, cut
  attach::AgentPresence agent = attach::AgentPresence::kAbsent;
};

// Those that NVML lists; where it lists none (no driver, a container that hides them) those that
// have the CUDA driver loaded. In ascending order.
std::vector<GpuProcess> FindGpuProcesses();

// A table with a headline, or a sentence where there are none.
std::string RenderGpuProcesses(const std::vector<GpuProcess>& processes);

}  // namespace utlz

#endif  // UTLZ_TOOLS_PROCESSES_GPU_PROCESSES_H_
