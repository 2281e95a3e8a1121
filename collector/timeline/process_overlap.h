// When kernels of several traced processes ran on one device at once. Processes share a GPU by time
// slices: a kernel's times then hold the other's slices too, and what samples count meanwhile can
// be divided among neither.
//
// Memory: two ends, and a bit for each process. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_PROCESS_OVERLAP_H_
#define UTLZ_COLLECTOR_TIMELINE_PROCESS_OVERLAP_H_

#include <cstdint>
#include <optional>
#include <set>

#include "collector/timeline/activity.h"

namespace utlz {

class ProcessOverlap {
 public:
  struct Span {
    uint64_t start_ns;
    uint64_t end_ns;
  };

  // Kernels in order of their start; one that comes late is left out. Returns the time that this
  // one shares with those before it, as far as no earlier call returned it.
  std::optional<Span> Add(const Activity& kernel);

  uint64_t time_ns() const { return time_ns_; }
  // Processes whose kernels ran beside another's.
  size_t processes() const { return sources_.size(); }
  bool Holds(uint16_t source) const { return sources_.contains(source); }

 private:
  struct Running {
    uint16_t source = 0;
    uint64_t end_ns = 0;
  };

  void Run(const Activity& kernel);

  // The latest end, and the latest of any other process.
  Running last_;
  Running last_of_others_;
  uint64_t latest_start_ns_ = 0;
  uint64_t counted_until_ns_ = 0;
  uint64_t time_ns_ = 0;
  std::set<uint16_t> sources_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_PROCESS_OVERLAP_H_
