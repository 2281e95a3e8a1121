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
  std::vector<uint64_t> numbers;
  for (const auto* process : processes) {
    numbers.push_back(ranks ? NumberOf(*process) : process->pid);
  }
  std::sort(numbers.begin(), numbers.end());  // they come in the order in which they began
  std::string text = ranks ? "ranks " : "processes ";
  for (size_t i = 0; i < std::min(numbers.size(), kMostNamed); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(numbers[i]);
  }
  return processes.size() > kMostNamed ? text + ", …" : text;
}

}  // namespace utlz
