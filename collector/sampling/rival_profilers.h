// Notices other profilers that want a GPU's counters, which the hardware gives to one at a time, so
// that the sampler can give way before they ask and fail: Nsight Compute, Nsight Systems where it
// samples GPU metrics, and DCGM's profiling module.
//
// It looks at processes that are new since it last looked. Half a second passes between two looks,
// and more where looking takes more than one part in 200 of the time. What another user's, or
// another container's, process hides from us is not noticed.
#ifndef UTLZ_COLLECTOR_SAMPLING_RIVAL_PROFILERS_H_
#define UTLZ_COLLECTOR_SAMPLING_RIVAL_PROFILERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace utlz {

// Not thread-safe. Times are monotonic nanoseconds.
class RivalProfilers {
 public:
  // One that is gone is given so long to come again: they are run in loops.
  static constexpr uint64_t kLingerNs = 3'000'000'000;
  // DCGM keeps its module loaded: after so long the hardware itself says whether it is used.
  static constexpr uint64_t kModuleNs = 30'000'000'000;

  // `root` is put before every path.
  explicit RivalProfilers(std::string root = "") : root_(std::move(root)) {}

  // Looks if it is time to.
  void Look(uint64_t now_ns);
  uint64_t next_look_ns() const { return next_look_ns_; }

  // Who wants the counters: "ncu, process 123". DCGM does only of GPUs without GPM (before Hopper).
  std::optional<std::string> Present(uint64_t now_ns, bool has_gpm) const;

 private:
  enum class Kind { kNone, kProfiler, kDcgm };
  struct Known {
    Kind kind = Kind::kNone;
    int looks_left = 2;  // a process changes its name when it executes a program
    bool module_loaded = false;
    uint64_t wants_until_ns = 0;
    std::string name;
  };

  void Examine(int pid, Known* known) const;
  void LookForModule(uint64_t now_ns, int pid, Known* known) const;
  std::string Path(int pid, const char* file) const;

  const std::string root_;
  std::map<int, Known> known_;
  Known gone_;  // the last that wanted the counters and ended
  bool looked_ = false;
  uint64_t next_look_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_RIVAL_PROFILERS_H_
