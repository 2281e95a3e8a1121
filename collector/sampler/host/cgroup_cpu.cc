#include "collector/sampler/host/cgroup_cpu.h"

#include <sys/stat.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "collector/sampler/driver/system_files.h"

namespace utlz {
namespace {

constexpr uint64_t kMostCpus = 4096;
constexpr size_t kMostLevels = 64;
constexpr uint64_t kNsPerMicrosecond = 1000;

std::string Stripped(const std::optional<std::string>& text) {
  return std::string(absl::StripAsciiWhitespace(text.value_or("")));
}

bool IsFolder(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The number behind `name` in a file of lines "name number".
std::optional<uint64_t> NumberOf(const std::string& text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t number = 0;
    if (words.size() == 2 && words[0] == name && absl::SimpleAtoi(words[1], &number)) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> NumberIn(const std::string& path) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(Stripped(ReadSystemText(path)), &number)) return std::nullopt;
  return number;
}

// The group's folder, and those above it up to where the hierarchy is mounted. In a container the
// path may be the host's, which is not there: then the mount itself is the group.
std::vector<std::string> Folders(const std::string& mount, const std::string& group) {
  std::vector<std::string> folders;
  std::string path = group;
  if (absl::StrContains(group, "..") || !IsFolder(mount + group)) path.clear();
  while (!path.empty() && path != "/" && folders.size() < kMostLevels) {
    folders.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

void AddVersion2(const std::string& folder, CgroupCpu* result) {
  const std::string statistics = ReadSystemText(folder + "/cpu.stat").value_or("");
  result->throttled += NumberOf(statistics, "nr_throttled").value_or(0);
  const std::string limit = Stripped(ReadSystemText(folder + "/cpu.max"));
  const std::vector<absl::string_view> words = absl::StrSplit(limit, ' ', absl::SkipEmpty());
  double quota = 0;
  double period = 0;
  if (words.size() != 2 || !absl::SimpleAtod(words[0], &quota) ||
      !absl::SimpleAtod(words[1], &period) || !(quota > 0) || !(period > 0)) {
    return;
  }
  CpuQuota entry{.cores = quota / period, .used_ns = NumberOf(statistics, "usage_usec")};
  if (entry.used_ns.has_value()) *entry.used_ns *= kNsPerMicrosecond;
  result->quotas.push_back(entry);
}

void AddVersion1(const std::string& folder, const std::string& accounting_folder,
                 CgroupCpu* result) {
  const std::string statistics = ReadSystemText(folder + "/cpu.stat").value_or("");
  result->throttled += NumberOf(statistics, "nr_throttled").value_or(0);
  // "-1" where there is no limit.
  const std::optional<uint64_t> quota = NumberIn(folder + "/cpu.cfs_quota_us");
  const std::optional<uint64_t> period = NumberIn(folder + "/cpu.cfs_period_us");
  if (!quota.has_value() || *quota == 0 || period.value_or(0) == 0) return;
  result->quotas.push_back(
      {.cores = static_cast<double>(*quota) / static_cast<double>(*period),
       .used_ns = NumberIn(accounting_folder + "/cpuacct.usage")});
}

void AddCpus(const std::string& path, CgroupCpu* result) {
  const std::string list = Stripped(ReadSystemText(path));
  if (result->cpus.has_value() || list.empty()) return;
  result->cpus = ParseCpuList(list);
}

void AddControllers(const std::string& root, absl::string_view names, const std::string& group,
                    CgroupCpu* result) {
  const std::string mounts = root + "/sys/fs/cgroup/";
  if (names.empty()) {
    for (const std::string& mount : {mounts + "unified", root + "/sys/fs/cgroup"}) {
      if (!IsFolder(mount)) continue;
      const std::vector<std::string> folders = Folders(mount, group);
      for (const std::string& folder : folders) AddVersion2(folder, result);
      AddCpus(folders.front() + "/cpuset.cpus.effective", result);
      return;
    }
    return;
  }
  const std::vector<absl::string_view> controllers = absl::StrSplit(names, ',');
  for (const absl::string_view controller : controllers) {
    const std::string mount = mounts + std::string(controller);
    if (controller == "cpu") {
      const std::vector<std::string> folders = Folders(mount, group);
      const std::vector<std::string> accounting = Folders(mounts + "cpuacct", group);
      for (size_t i = 0; i < folders.size(); ++i) {
        AddVersion1(folders[i], i < accounting.size() ? accounting[i] : folders[i], result);
      }
    } else if (controller == "cpuset") {
      AddCpus(Folders(mount, group).front() + "/cpuset.effective_cpus", result);
      AddCpus(Folders(mount, group).front() + "/cpuset.cpus", result);
    }
  }
}

}  // namespace

CgroupCpu ReadCgroupCpu(const std::string& root) {
  CgroupCpu result;
  const std::string groups = ReadSystemText(root + "/proc/self/cgroup").value_or("");
  for (const absl::string_view line : absl::StrSplit(groups, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() == 3) AddControllers(root, parts[1], std::string(parts[2]), &result);
  }
  return result;
}

std::vector<bool> ParseCpuList(const std::string& text) {
  std::vector<bool> cpus;
  for (const absl::string_view range : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<absl::string_view> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
    uint64_t first = 0;
    uint64_t last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) continue;
    for (uint64_t cpu = first; cpu <= last && cpu < kMostCpus; ++cpu) {
      if (cpus.size() <= cpu) cpus.resize(cpu + 1);
      cpus[cpu] = true;
    }
  }
  return cpus;
}

}  // namespace utlz
