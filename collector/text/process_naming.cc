#include "collector/text/process_naming.h"

#include <algorithm>

namespace utlz {

std::string NameProcesses(const std::vector<pid_t>& pids) {
  constexpr size_t kNamedProcesses = 3;
  if (pids.size() == 1) return "process " + std::to_string(pids[0]);
  std::string name = std::to_string(pids.size()) + " processes (";
  for (size_t i = 0; i < std::min(pids.size(), kNamedProcesses); ++i) {
    name += (i == 0 ? "" : ", ") + std::to_string(pids[i]);
  }
  return name + (pids.size() > kNamedProcesses ? ", …)" : ")");
}

}  // namespace utlz
