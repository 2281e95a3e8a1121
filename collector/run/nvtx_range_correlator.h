// Which NVTX ranges a kernel was launched in: joins launches to the calls that launched them (by
// correlation) and calls to the ranges that were open on their thread.
//
// Records of one process come in no order across its buffers: a range waits until everything that
// was launched in it should have come. Memory is bounded: of a range that began before the oldest
// launch that is still held (kMaxPlaced), it is not known what was launched in it. Nor is it of one
// on a thread that keeps the number of a call, which CUPTI gives to all that the thread launches
// after records of calls went off in it
// (docs/measurements/launch_stacks.md#threads-that-keep-the-number-of-a-call).
//
// Times are of the process's CPU clock. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_NVTX_RANGE_CORRELATOR_H_
#define UTLZ_COLLECTOR_RUN_NVTX_RANGE_CORRELATOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

// Kernels of one kind that were launched in ranges of one name.
struct CorrelatedKernels {
  uint64_t launches = 0;
  uint64_t time_ns = 0;
};

// What is known of all ranges of one name.
struct MarkerKernels {
  std::map<uint32_t, CorrelatedKernels> by_kernel;  // index into KernelTable
  bool seen = false;        // launch calls were recorded in the process of one of the ranges
  bool incomplete = false;  // of some range it is not known what was launched in it
  bool passing = false;     // of one range, and forgotten with it: does not count among kMaxPairs
};

class NvtxRangeCorrelator {
 public:
  static constexpr size_t kMaxPlaced = 1u << 20;
  static constexpr size_t kMaxCalls = 1u << 19;    // waiting for their launches
  static constexpr size_t kMaxWaiting = 1u << 19;  // launches waiting for their calls
  static constexpr size_t kMaxRanges = 1u << 18;   // waiting to be settled
  static constexpr size_t kMaxThreads = 1u << 16;
  static constexpr size_t kMaxPairs = 1u << 20;  // of range name and kernel
  static constexpr size_t kMaxPassing = 1024;    // kernels of a range that is forgotten

  struct Launch {
    uint32_t kernel = 0;
    uint64_t duration_ns = 0;
    bool of_graph = false;  // the call launches others too
  };

  // False where the columns do not agree; then nothing was taken.
  bool AddCalls(uint32_t source, const LaunchCallBatch& batch);
  // Without a correlation the launch is left out.
  void AddLaunch(uint32_t source, uint32_t correlation, const Launch& launch);
  // `kernels` must outlive this object's next Settle.
  void AddRange(uint32_t source, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                MarkerKernels* kernels);
  // Adds up the ranges of `source` that ended before `watermark_ns`.
  void Settle(uint32_t source, uint64_t watermark_ns);
  // Adds up all: nothing more will come.
  void SettleAll();

 private:
  struct Call {
    uint64_t start_ns;
    uint32_t thread;
    bool launched = false;  // a kernel of its own
  };
  struct Waiting {
    uint64_t key;
    Launch launch;
    uint64_t next = 0;  // number of the next one with this key; 0: none
    bool placed = false;
  };
  struct WaitingChain {
    uint64_t first;
    uint64_t last;
  };
  struct Placed {
    uint64_t start_ns;  // of the call
    uint64_t duration_ns;
    uint32_t kernel;
  };
  struct Range {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t thread;
    MarkerKernels* kernels;
  };
  using RangesByEnd = std::multimap<uint64_t, Range>;
  struct Thread {
    std::deque<Placed> launches;  // by start, once sorted
    bool sorted = true;
    uint64_t complete_from_ns = 0;
    uint64_t complete_until_ns = UINT64_MAX;  // from then on it keeps a call's number
  };

  void Place(uint32_t source, const Launch& launch, Call* call);
  void PlaceWaiting(uint64_t key, Call* call);
  void DropFirstWaiting();
  void AddUp(Thread* thread, const Range& range);
  bool Count(const Placed& launch, MarkerKernels* kernels);
  void ForgetOldest();

  std::unordered_map<uint64_t, Call> calls_;  // by source and correlation
  std::deque<uint64_t> call_order_;
  // In the order in which they came; numbered, so that those of a call are found at once.
  std::deque<Waiting> waiting_;
  uint64_t first_waiting_ = 1;  // number of waiting_.front()
  std::unordered_map<uint64_t, WaitingChain> waiting_by_key_;
  std::map<std::pair<uint32_t, uint32_t>, Thread> threads_;  // by source and thread
  std::set<uint32_t> tracing_;                               // sources that sent calls
  size_t placed_ = 0;
  size_t pairs_ = 0;
  std::map<uint32_t, RangesByEnd> ranges_;  // by source
  size_t held_ranges_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_NVTX_RANGE_CORRELATOR_H_
