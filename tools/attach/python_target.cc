#include "tools/attach/python_target.h"

#include <cstdio>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/attach/proc_file.h"

namespace utlz::attach {
namespace {

constexpr int kFirstMinorWithRemoteExec = 14;
constexpr size_t kMaxTextBytes = 1 << 20;

std::optional<int> MinorVersion(const std::string& base_name) {
  int minor = 0;
  const bool found = std::sscanf(base_name.c_str(), "libpython3.%d", &minor) == 1 ||
                     std::sscanf(base_name.c_str(), "python3.%d", &minor) == 1;
  if (!found || minor < 0 || minor > 99) return std::nullopt;
  return minor;
}

bool IsSwitchedOff(const std::string& command_line, const std::string& environment) {
  const std::vector<std::string> arguments = absl::StrSplit(command_line, '\0');
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-Xdisable_remote_debug" ||
        (arguments[i] == "-X" && i + 1 < arguments.size() &&
         arguments[i + 1] == "disable_remote_debug")) {
      return true;
    }
  }
  constexpr char kVariable[] = "PYTHON_DISABLE_REMOTE_DEBUG=";
  for (const auto& variable : absl::StrSplit(environment, '\0')) {
    // Any value switches it off, an empty one does not.
    if (absl::StartsWith(variable, kVariable) && variable.size() > sizeof(kVariable) - 1) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<PythonTarget> FindPython(const MemoryMap& map, const std::string& command_line,
                                       const std::string& environment) {
  for (const Mapping& mapping : map.mappings()) {
    const auto minor = MinorVersion(mapping.BaseName());
    if (mapping.inode == 0 || !mapping.executable || !minor) continue;
    return PythonTarget{*minor, *minor >= kFirstMinorWithRemoteExec &&
                                    !IsSwitchedOff(command_line, environment)};
  }
  return std::nullopt;
}

std::optional<PythonTarget> ReadPythonTarget(pid_t pid) {
  const auto map = MemoryMap::Read(pid);
  if (!map.ok()) return std::nullopt;
  const auto read = [pid](const char* file) {
    return ReadSmallFile(absl::StrCat("/proc/", pid, "/", file), kMaxTextBytes).value_or("");
  };
  return FindPython(*map, read("cmdline"), read("environ"));
}

}  // namespace utlz::attach
