// When the sampler set the GPU's counters: programs on it may have waited for utlz meanwhile.
//
// Samplers record it (CounterSetting). In older profiles it is inferred from the windows: the
// counters were set before the first one, and between two of different metric sets. While the GPU
// was not sampled with its usual set, windows cost more, and programs were seen to wait as well:
// such a stretch is a time in which utlz may have held them up. Bounded; thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_COUNTER_SETTINGS_H_
#define UTLZ_COLLECTOR_COUNTERS_COUNTER_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

class CounterSettings {
 public:
  static constexpr size_t kMost = 4096;  // records, and stretches of one metric set
  // Setting counters takes some 0.2 s, right after one window or right before the next.
  static constexpr uint64_t kLongestNs = 500'000'000;

  struct Stretch {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    bool setting = false;  // counters were set; else another set than the usual one was in
  };

  void Add(const CounterSetting& setting);
  // Samples of one metric set, in order of time.
  void AddSamples(uint32_t metric_set, uint64_t start_ns, uint64_t end_ns);

  // In no order; stretches may overlap.
  std::vector<Stretch> Stretches() const;

 private:
  struct SetStretch {
    uint32_t metric_set;
    uint64_t start_ns;
    uint64_t end_ns;
  };

  void AddInferred(std::vector<Stretch>* stretches) const;

  std::vector<Stretch> recorded_;
  std::vector<SetStretch> set_stretches_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_COUNTER_SETTINGS_H_
