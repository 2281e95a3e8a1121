#include "tools/attach/target/process_facts.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/unique_fd.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxPathBytes = 256;

template <typename Number>
Number NumberField(const std::string& status_text, const char* name, Number otherwise) {
  const auto field = StatusField(status_text, name);
  if (!field) return otherwise;
  // Several numbers (Uid: real, effective ...) or one with a unit: the first counts.
  const std::vector<std::string> parts =
      absl::StrSplit(*field, absl::ByAnyChar("\t "), absl::SkipEmpty());
  Number number = otherwise;
  if (!parts.empty() && absl::SimpleAtoi(parts.front(), &number)) return number;
  return otherwise;
}

bool FileSays(const std::string& path, const std::string& word) {
  const auto text = ReadSmallFile(path, 4096);
  return text.ok() && absl::StartsWith(*text, word);
}

// Both generations of control groups. Where this tool sees another hierarchy than the target's,
// the answer is no, and the thread's failure to stop tells.
bool IsFrozen(pid_t pid) {
  const auto groups = ReadSmallFile(absl::StrCat("/proc/", pid, "/cgroup"), 64 << 10);
  if (!groups.ok()) return false;
  for (const auto& line : absl::StrSplit(*groups, '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string& path = parts[2];
    if (parts[1].empty() &&
        (FileSays(absl::StrCat("/sys/fs/cgroup", path, "/cgroup.freeze"), "1") ||
         FileSays(absl::StrCat("/sys/fs/cgroup/unified", path, "/cgroup.freeze"), "1"))) {
      return true;
    }
    if (parts[1] == "freezer" &&
        FileSays(absl::StrCat("/sys/fs/cgroup/freezer", path, "/freezer.state"), "FR")) {
      return true;
    }
  }
  return false;
}

bool SharesMemory(pid_t pid, pid_t parent_pid) {
  return parent_pid > 0 && syscall(SYS_kcmp, pid, parent_pid, KCMP_VM, 0, 0) == 0;
}

// dlopen goes through /proc/self/fd in the target's own view of the file system.
bool SeesItself(pid_t pid, const std::string& status_text) {
  const std::string proc = absl::StrCat("/proc/", pid, "/root/proc");
  struct statfs file_system = {};
  if (statfs(proc.c_str(), &file_system) != 0 ||
      file_system.f_type != static_cast<decltype(file_system.f_type)>(PROC_SUPER_MAGIC)) {
    return false;
  }
  // That /proc belongs to one of the namespaces in which the process has a number.
  const std::string numbers = StatusField(status_text, "NSpid").value_or(absl::StrCat(pid));
  for (const auto& number : absl::StrSplit(numbers, '\t', absl::SkipEmpty())) {
    if (access(absl::StrCat(proc, "/", number, "/fd").c_str(), F_OK) == 0) return true;
  }
  return false;
}

bool IsOtherTool(const std::string& base_name) {
  return absl::StartsWith(base_name, "libToolsInjection") ||
         absl::StartsWith(base_name, "libcuda-injection") ||
         absl::StartsWith(base_name, "libTreeLauncherTarget") ||
         absl::StartsWith(base_name, "libnvinject") || absl::StartsWith(base_name, "libkineto");
}

void AddOnce(std::vector<std::string>& list, const std::string& path) {
  const std::string printable = PrintableText(path, kMaxPathBytes);
  if (std::find(list.begin(), list.end(), printable) == list.end()) list.push_back(printable);
}

}  // namespace

void AddMappedLibraries(const MemoryMap& map, ProcessFacts& facts) {
  const std::string agent_path = absl::StrCat("/memfd:", kAgentFileName);
  for (const Mapping& mapping : map.mappings()) {
    if (mapping.inode == 0) continue;
    const std::string name = mapping.BaseName();
    facts.has_cuda_driver |= absl::StartsWith(name, "libcuda.so");
    facts.has_agent |= mapping.path == agent_path || absl::StartsWith(name, kAgentFileName);
    if (absl::StartsWith(name, "libcupti.so")) AddOnce(facts.cupti_paths, mapping.path);
    if (IsOtherTool(name)) AddOnce(facts.other_tools, mapping.path);
  }
}

absl::StatusOr<ProcessFacts> ReadProcessFacts(pid_t pid) {
  const auto status = ReadSmallFile(absl::StrCat("/proc/", pid, "/status"), 64 << 10);
  if (pid <= 0 || !status.ok()) {
    return absl::NotFoundError(absl::StrCat("there is no process ", pid));
  }
  if (NumberField<pid_t>(*status, "Tgid", pid) != pid) {
    return absl::NotFoundError(absl::StrCat(
        pid, " is a thread of process ", NumberField<pid_t>(*status, "Tgid", 0),
        "; attach to that one"));
  }
  ProcessFacts facts;
  facts.pid = pid;
  const size_t name_end = status->find('\n');
  facts.name = PrintableText(status->substr(std::min<size_t>(6, name_end), name_end - 6),
                             kMaxNameBytes);
  facts.state = StatusField(*status, "State").value_or("?")[0];
  facts.user_id = NumberField<uid_t>(*status, "Uid", 0);
  facts.parent_pid = NumberField<pid_t>(*status, "PPid", 0);
  facts.tracer_pid = NumberField<pid_t>(*status, "TracerPid", 0);
  facts.seccomp = static_cast<SeccompMode>(NumberField<int>(*status, "Seccomp", 0));
  facts.is_kernel_thread = !StatusField(*status, "VmSize") && facts.state != 'Z';
  facts.is_frozen = IsFrozen(pid);
  facts.shares_parents_memory = SharesMemory(pid, facts.parent_pid);
  facts.may_trace = UniqueFd(open(absl::StrCat("/proc/", pid, "/mem").c_str(),
                                  O_RDONLY | O_CLOEXEC)).valid();
  facts.has_proc = SeesItself(pid, *status);
  if (const auto map = MemoryMap::Read(pid); map.ok()) AddMappedLibraries(*map, facts);
  return facts;
}

}  // namespace utlz::attach
