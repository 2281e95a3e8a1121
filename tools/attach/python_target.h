// Whether a process is a Python that can be asked to run a script by itself (PEP 768,
// sys.remote_exec), which needs no thread to be lent. Discovery only: see docs/attach.md.
#ifndef UTLZ_TOOLS_ATTACH_PYTHON_TARGET_H_
#define UTLZ_TOOLS_ATTACH_PYTHON_TARGET_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "tools/attach/memory_map.h"

namespace utlz::attach {

struct PythonTarget {
  int minor_version = 0;  // of 3.N
  // From 3.14 on, unless it was switched off on the command line or in the environment. A build
  // without it cannot be told apart from outside.
  bool may_run_scripts = false;
};

// Absent if no CPython 3 is mapped. `command_line` and `environment` are NUL-separated, as in
// /proc/PID/cmdline and /proc/PID/environ.
std::optional<PythonTarget> FindPython(const MemoryMap& map, const std::string& command_line,
                                       const std::string& environment);

// The same, read from /proc.
std::optional<PythonTarget> ReadPythonTarget(pid_t pid);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_PYTHON_TARGET_H_
