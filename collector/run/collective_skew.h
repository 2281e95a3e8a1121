// When the processes of a run came to their collectives. A collective ends for all at about the
// same time, and nobody's kernel can end before the last one began: whoever begins late makes the
// others wait.
//
// Processes belong together whose collectives end together: the ranks of one job. A run may have
// several such groups, at once or one after the other, as where a launcher starts all ranks anew.
//
// Bounded to kMaxArrivals. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_COLLECTIVE_SKEW_H_
#define UTLZ_COLLECTOR_RUN_COLLECTIVE_SKEW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace utlz {

struct ProcessSkew {
  uint64_t communication_ns = 0;  // Σ over its communication kernels
  uint64_t matched = 0;           // collectives in which all processes of its group were found
  uint32_t group = 0;             // of those that it communicates with, where any matched
  double late_ns = 0;             // mean, after the first of them
  double last_share = 0;          // of these collectives, this process was the last and came late
  double delay_ns = 0;            // Σ where it was the last: how long after the last of the others
};

// A communication kernel of one process.
struct CollectiveArrival {
  uint64_t start_ns;
  uint64_t end_ns;
};

class CollectiveSkew {
 public:
  static constexpr size_t kMaxArrivals = 1u << 18;  // of all processes together
  // A process that begins this much after the others came late.
  static constexpr uint64_t kLateNs = 10'000;

  // Communication kernels of a process.
  void Add(uint32_t source, uint64_t start_ns, uint64_t end_ns);

  // By process. Nothing is matched for a process that nobody communicates with.
  std::map<uint32_t, ProcessSkew> Summarize() const;

 private:
  std::map<uint32_t, std::vector<CollectiveArrival>> arrivals_;
  std::map<uint32_t, uint64_t> time_ns_;
  size_t count_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_COLLECTIVE_SKEW_H_
