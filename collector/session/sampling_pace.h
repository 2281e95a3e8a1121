// When to ask how well the kernels' counters are known, and on which GPUs windows need seldom be
// sampled any more: samples cost the machine CPU time, and counters that are set for them cost
// power-limited work 1.2 %. Pure decisions; times in nanoseconds of any one clock. Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_SAMPLING_PACE_H_
#define UTLZ_COLLECTOR_SESSION_SAMPLING_PACE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collector/analysis/counter_precision.h"

namespace utlz {

class SamplingPace {
 public:
  // Between two looks, while more samples are wanted of any GPU and once they are not.
  static constexpr uint64_t kPauseNs = 1'000'000'000;
  static constexpr uint64_t kSeldomPauseNs = 5'000'000'000;
  // A look may take one part of a core in so many.
  static constexpr uint64_t kShare = 100;

  bool Due(uint64_t now_ns) const { return now_ns >= next_ns_; }

  // What a look found, and the CPU time that it took.
  void Looked(uint64_t now_ns, uint64_t took_ns, const std::vector<CounterPrecision>& found);

  // By 16-byte UUID.
  const std::set<std::string>& seldom() const { return seldom_; }

 private:
  struct Device {
    // What later looks are compared with.
    uint64_t samples = 0;
    double imprecision = 1;
    bool enough = false;  // as of the last look
  };
  // Whether more samples would tell little, as of this look.
  static bool Enough(const CounterPrecision& found, Device* device);

  uint64_t next_ns_ = 0;
  std::map<std::string, Device> devices_;
  std::set<std::string> seldom_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SAMPLING_PACE_H_
