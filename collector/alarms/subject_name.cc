#include "collector/alarms/subject_name.h"

#include <algorithm>

namespace utlz {
namespace {

constexpr size_t kMostNamed = 8;

uint64_t NumberOf(const ProcessReading& process) {
  return process.rank.has_value() ? *process.rank : process.pid;
}

}  // namespace

std::string SubjectName(const ProcessReading& process) {
  return (process.rank.has_value() ? "rank " : "process ") + std::to_string(NumberOf(process));
}

std::string SubjectNames(const std::vector<const ProcessReading*>& processes) {
  if (processes.size() == 1) return SubjectName(*processes.front());
  const bool ranks = std::all_of(processes.begin(), processes.end(),
                                 [](const auto* process) { return process->rank.has_value(); });
  std::string text = ranks ? "ranks " : "processes ";
  for (size_t i = 0; i < std::min(processes.size(), kMostNamed); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(ranks ? NumberOf(*processes[i]) : processes[i]->pid);
  }
  return processes.size() > kMostNamed ? text + ", …" : text;
}

}  // namespace utlz
