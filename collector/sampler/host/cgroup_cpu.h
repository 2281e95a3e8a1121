// What the control groups of this process let it use of the CPUs, in version 1 and version 2, with
// the groups above it. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_SAMPLER_HOST_CGROUP_CPU_H_
#define UTLZ_COLLECTOR_SAMPLER_HOST_CGROUP_CPU_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace utlz {

// Of one group with a quota.
struct CpuQuota {
  double cores = 0;
  std::optional<uint64_t> used_ns;  // CPU time of all in the group, so far
};

struct CgroupCpu {
  std::vector<CpuQuota> quotas;
  uint64_t throttled = 0;  // periods in which a group was held up, all groups
  std::optional<std::vector<bool>> cpus;  // that the group may run on, by number
};

// `root` is put before every path ("" on a real machine). What cannot be read is left out.
CgroupCpu ReadCgroupCpu(const std::string& root);

// "0-3,8" as the kernel writes it; numbers of 4096 and more are passed over.
std::vector<bool> ParseCpuList(const std::string& text);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_HOST_CGROUP_CPU_H_
