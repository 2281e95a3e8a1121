// How sentences name processes.
#ifndef UTLZ_COLLECTOR_TEXT_PROCESS_NAMING_H_
#define UTLZ_COLLECTOR_TEXT_PROCESS_NAMING_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace utlz {

// "process 12" or "40 processes (12, 13, 14, …)".
std::string NameProcesses(const std::vector<pid_t>& pids);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_PROCESS_NAMING_H_
