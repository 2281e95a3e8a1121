// CPU time that the sampler may use because nobody else does: that of one core for each eight that
// are idle among the CPUs that it may run on, and within the quota of each of its control groups.
// Where a group is throttled there is none: in a pod with a limit its time is the job's.
//
// Times are monotonic nanoseconds. Not thread safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_HOST_IDLE_CORES_H_
#define UTLZ_COLLECTOR_SAMPLER_HOST_IDLE_CORES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/sampler/host/cgroup_cpu.h"

namespace utlz {

// The CPUs that this process may run on, by number (sched_getaffinity).
std::vector<bool> CpusOfThisProcess();

class IdleCores {
 public:
  static constexpr uint64_t kPauseNs = 500'000'000;
  static constexpr double kIdleForEach = 8;
  // A group that was throttled is left alone for so long.
  static constexpr uint64_t kThrottledNs = 10'000'000'000;

  // `root` is put before every path ("" on a real machine).
  explicit IdleCores(std::string root = "") : root_(std::move(root)) {}

  bool Due(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // `own_cpu_ns`: what this process has used so far, which is not the others' load.
  void Look(uint64_t now_ns, uint64_t own_cpu_ns, const std::vector<bool>& allowed);

  // Millionths of a core, whole cores: the fewest that the last two looks found.
  uint32_t spare_ppm() const { return spare_ppm_; }

 private:
  struct Reading {
    uint64_t time_ns = 0;
    uint64_t own_cpu_ns = 0;
    double idle_seconds = 0;  // of all allowed CPUs, so far
    CgroupCpu groups;
  };
  double IdleSeconds(const std::vector<bool>& allowed) const;
  double Idle(const Reading& before, const Reading& now) const;

  const std::string root_;
  uint64_t next_ns_ = 0;
  uint64_t throttled_ns_ = 0;  // seen last; 0: never
  std::optional<Reading> last_;
  uint32_t last_ppm_ = 0;
  uint32_t spare_ppm_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_HOST_IDLE_CORES_H_
