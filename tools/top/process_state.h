// What the kernel says of processes that use a GPU: their parents, how much processor time and host
// memory they take, since when they run. Thread safety: none.
#ifndef UTLZ_TOOLS_TOP_PROCESS_STATE_H_
#define UTLZ_TOOLS_TOP_PROCESS_STATE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tools/top/snapshot.h"

namespace utlz::top {

class ProcessStates {
 public:
  // Once a process and tick. Time of CLOCK_MONOTONIC. What is not known stays without a value.
  void Read(uint64_t now_ns, ProcessSnapshot* process);
  // Forgets those that were not read since the last call.
  void EndTick();

 private:
  struct Known {
    uint64_t start_ticks = 0;  // distinguishes a process from a later one with its PID
    uint64_t cpu_ticks = 0;
    uint64_t time_ns = 0;
    uid_t user = 0;
    std::vector<pid_t> ancestors = {};
    std::optional<double> cpu_percent = {};
    bool read = false;
  };

  std::map<pid_t, Known> known_;
};

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_PROCESS_STATE_H_
