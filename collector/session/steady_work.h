// Which GPUs' programs repeat themselves. A program that starts up compiles and tries kernels out:
// most of its kernel time is of kernels that were not there a moment before, and will not be there
// a moment later. Samples of these say nothing about later steps.
//
// Pure decisions; times in nanoseconds of any one clock. Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_STEADY_WORK_H_
#define UTLZ_COLLECTOR_SESSION_STEADY_WORK_H_

#include <cstdint>
#include <map>
#include <vector>

namespace utlz {

// Of one kernel, so far.
struct KernelTime {
  uint32_t device = 0;
  uint64_t time_ns = 0;
  // From its first launch to its last. Records come half a second late and many at once, so when
  // they come says little.
  uint64_t span_ns = 0;
};

class SteadyWork {
 public:
  static constexpr uint64_t kPauseNs = 100'000'000;  // between looks
  // A kernel that ran so long ago comes back. One that is tried out runs for less. What is
  // recorded at its start alone is recorded for a second or two: this must be soon.
  static constexpr uint64_t kKnownNs = 300'000'000;
  static constexpr double kSteadyShare = 0.8;  // of the time, of kernels that are known
  // A look in which kernels ran for less than this says nothing.
  static constexpr uint64_t kLeastWorkNs = 1'000'000;
  // Kernels ran lately where some were seen so long ago. Records come half a second late, and a
  // program that loads a batch stands still for about as long.
  static constexpr uint64_t kAtWorkNs = 1'500'000'000;
  // Work of ever new kernels for so long is what this program does.
  static constexpr uint64_t kLongestStartUpNs = 60'000'000'000;

  bool Due(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // All kernels of the run; an index stays a kernel's.
  void Look(uint64_t now_ns, const std::vector<KernelTime>& kernels);
  // As of the last look that said something.
  bool Steady(uint32_t device) const;
  // Whether kernels ran lately.
  bool AtWork(uint64_t now_ns, uint32_t device) const;

 private:
  struct Device {
    uint64_t work_ns = 0;  // since the look before
    uint64_t known_ns = 0;
    uint64_t begun_ns = 0;   // of its first work; 0: none yet
    uint64_t worked_ns = 0;  // when some was seen last; 0: never
    bool steady = false;
  };
  void Judge(uint64_t now_ns, Device* device);

  uint64_t next_ns_ = 0;
  std::vector<uint64_t> times_ns_;  // by kernel, as of the last look
  std::map<uint32_t, Device> devices_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_STEADY_WORK_H_
