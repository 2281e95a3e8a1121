// Notices other profilers that want a GPU's counters, which the hardware gives to one at a time, so
// that the sampler can give way before they ask and fail: Nsight Compute, Nsight Systems where it
// samples GPU metrics, and DCGM's profiling module.
//
// It looks at processes that are new since it last looked. Half a second passes between two looks,
// and more where looking takes more than one part in 200 of the time. What another user's, or
// another container's, process hides from us is not noticed.
//
// Anybody may give a process a profiler's name. One is trusted to be what it is called where it is
// this user's or root's in all of its user numbers; of another user where the driver lets it have
// counters and it, or a child of it, has the very GPU open. One that has GPUs open wants the
// counters of no others.
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_COMPETING_PROFILERS_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_COMPETING_PROFILERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace utlz {

// Not thread-safe. Times are monotonic nanoseconds.
class CompetingProfilers {
 public:
  // One that is gone is given so long to come again: they are run in loops.
  static constexpr uint64_t kLingerNs = 3'000'000'000;
  // DCGM keeps its module loaded: after so long the hardware itself says whether it is used.
  static constexpr uint64_t kModuleNs = 30'000'000'000;

  // `root` is put before every path.
  explicit CompetingProfilers(std::string root = "") : root_(std::move(root)) {}

  // Looks if it is time to.
  void Look(uint64_t now_ns);
  uint64_t next_look_ns() const { return next_look_ns_; }

  // Who wants this GPU's counters: "ncu, process 123". DCGM does only of GPUs without GPM (before
  // Hopper). `pci_bus` as in CudaDevice.
  std::optional<std::string> Present(uint64_t now_ns, bool has_gpm,
                                     const std::string& pci_bus) const;

 private:
  enum class Kind { kNone, kProfiler, kDcgm };
  struct Known {
    Kind kind = Kind::kNone;
    int looks_left = 2;  // a process changes its name when it executes a program
    bool module_loaded = false;
    uint64_t wants_until_ns = 0;
    std::string name;
    bool is_trusted = false;  // it is ours or root's
    bool may_count = false;   // the driver would let it
    std::set<int> gpus;       // that it or its children have open: N of /dev/nvidiaN
  };

  void Examine(int pid, Known* known) const;
  void LookForModule(uint64_t now_ns, int pid, Known* known) const;
  void LookForUser(int pid, Known* known) const;
  void LookForGpus(int pid, Known* known) const;
  void AddOpenGpus(int pid, std::set<int>* gpus) const;
  bool IsAbout(const Known& known, std::optional<int> gpu) const;
  std::optional<int> GpuNumber(const std::string& pci_bus) const;
  std::string Path(int pid, const std::string& file) const;

  const std::string root_;
  mutable std::map<std::string, std::optional<int>> gpu_numbers_;  // by PCI bus
  std::map<int, Known> known_;
  std::vector<Known> gone_;  // that wanted the counters and ended lately
  bool looked_ = false;
  uint64_t next_look_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_COMPETING_PROFILERS_H_
