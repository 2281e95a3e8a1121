#include "tools/top/process_state.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::top {
namespace {

constexpr size_t kMaxStatBytes = 4096;
constexpr size_t kMostAncestors = 16;

struct Stat {
  pid_t parent = 0;
  uint64_t cpu_ticks = 0;
  uint64_t start_ticks = 0;  // since the machine started
  uint64_t resident_pages = 0;
};

template <typename Number>
bool Parse(const std::vector<std::string>& fields, size_t index, Number* number) {
  return index < fields.size() && absl::SimpleAtoi(fields[index], number);
}

// Fields of /proc/PID/stat behind the name, which may hold anything: the third one first.
std::optional<Stat> ReadStat(pid_t pid) {
  const auto text = attach::ReadSmallFile(absl::StrCat("/proc/", pid, "/stat"), kMaxStatBytes);
  if (!text.ok()) return std::nullopt;
  const size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 > text->size()) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(text->substr(name_end + 2), ' ');
  Stat stat;
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  if (!Parse(fields, 1, &stat.parent) || !Parse(fields, 11, &user_ticks) ||
      !Parse(fields, 12, &system_ticks) || !Parse(fields, 19, &stat.start_ticks) ||
      !Parse(fields, 21, &stat.resident_pages)) {
    return std::nullopt;
  }
  stat.cpu_ticks = user_ticks + system_ticks;
  return stat;
}

std::vector<pid_t> AncestorsOf(pid_t parent) {
  std::vector<pid_t> ancestors;
  while (parent > 1 && ancestors.size() < kMostAncestors) {
    ancestors.push_back(parent);
    const std::optional<Stat> stat = ReadStat(parent);
    parent = stat ? stat->parent : 0;
  }
  return ancestors;
}

double SecondsSinceStart() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

void ProcessStates::Read(uint64_t now_ns, ProcessSnapshot* process) {
  static const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const std::optional<Stat> stat = ReadStat(process->pid);
  if (!stat) return;
  Known& known = known_[process->pid];
  const bool is_new = known.start_ticks != stat->start_ticks || known.time_ns == 0;
  // On several GPUs it is read once.
  const bool again = !is_new && known.time_ns == now_ns;
  if (is_new) {
    struct stat folder = {};
    if (::stat(absl::StrCat("/proc/", process->pid).c_str(), &folder) != 0) return;
    known = Known{.start_ticks = stat->start_ticks,
                  .user = folder.st_uid,
                  .ancestors = AncestorsOf(stat->parent)};
  } else if (!again && now_ns > known.time_ns) {
    const auto spent =
        static_cast<double>(stat->cpu_ticks - std::min(known.cpu_ticks, stat->cpu_ticks));
    known.cpu_percent =
        100 * spent / ticks_a_second / (static_cast<double>(now_ns - known.time_ns) * 1e-9);
  }
  known.cpu_ticks = stat->cpu_ticks;
  known.time_ns = now_ns;
  known.read = true;
  process->user_id = known.user;
  process->ancestors = known.ancestors;
  process->cpu_percent = known.cpu_percent;
  process->host_memory_bytes = stat->resident_pages * page_bytes;
  process->age_seconds =
      SecondsSinceStart() - static_cast<double>(stat->start_ticks) / ticks_a_second;
}

void ProcessStates::EndTick() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second.read; });
  for (auto& [pid, known] : known_) known.read = false;
}

}  // namespace utlz::top
