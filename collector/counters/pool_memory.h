// What CUDA's stream-ordered allocator (cudaMallocAsync) held on one device, by its own count, for
// all processes together. Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_POOL_MEMORY_H_
#define UTLZ_COLLECTOR_COUNTERS_POOL_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "collector/timeline/bounded_series.h"
#include "proto/profile.pb.h"

namespace utlz {

class PoolMemoryTotals {
 public:
  // Of a process; a figure beyond what any GPU has is not taken.
  void Add(uint32_t source, const PoolMemory& memory);
  // The process ended, and its memory was given back.
  void End(uint32_t source);

  // The most that was in use at once: readings are a second apart, and what a process held between
  // two of them counts as held beside what the others held at the second.
  std::optional<double> used_max() const { return used_max_; }
  std::optional<double> reserved_max() const { return reserved_max_; }
  const BoundedSeries& used_series() const { return used_series_; }

 private:
  struct Held {
    double used = 0;
    double reserved = 0;
    uint64_t first_high = 0;  // of before it was watched, maybe
  };

  std::map<uint32_t, Held> by_process_;
  double used_ = 0;  // by all
  double reserved_ = 0;
  uint64_t newest_ns_ = 0;
  std::optional<double> used_max_;
  std::optional<double> reserved_max_;
  BoundedSeries used_series_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_POOL_MEMORY_H_
