// The CUDA processes that belong together: a server's engine and its workers, torchrun's ranks.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_SERVER_PROCESSES_H_
#define UTLZ_TOOLS_ATTACH_SESSION_SERVER_PROCESSES_H_

#include <sys/types.h>

#include <map>
#include <vector>

namespace utlz {

struct ProcessKinship {
  pid_t parent = 0;
  pid_t group = 0;
};

// The processes of `pids`, their descendants, and whoever shares a process group with one of them
// that is not `own_group`: a script starts servers in its own group. Exposed for tests.
std::vector<pid_t> Relatives(const std::map<pid_t, ProcessKinship>& processes,
                             const std::vector<pid_t>& pids, pid_t own_group);

// Whether this process uses CUDA itself. Forks of one that does, and utlz's samplers, do not count.
bool UsesCuda(pid_t pid);

// The relatives that use CUDA; `pids` themselves if none has.
std::vector<pid_t> ServerProcesses(const std::vector<pid_t>& pids);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_SERVER_PROCESSES_H_
