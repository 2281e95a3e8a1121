// Whose a process is, and what it runs, as text that is safe to show.
#ifndef UTLZ_TOOLS_PROCESSES_PROCESS_NAMES_H_
#define UTLZ_TOOLS_PROCESSES_PROCESS_NAMES_H_

#include <sys/types.h>

#include <string>

namespace utlz {

struct ProcessNames {
  std::string user;     // name, or number; empty: the process is not there
  std::string command;  // printable, cut; empty: unknown
};

// Of /proc. Both are empty if there is no such process that this one may see.
ProcessNames ReadProcessNames(pid_t pid);

// The user's name, or number.
std::string UserName(uid_t user_id);

// The command line, printable and cut; empty where there is none.
std::string CommandLine(pid_t pid);

}  // namespace utlz

#endif  // UTLZ_TOOLS_PROCESSES_PROCESS_NAMES_H_
