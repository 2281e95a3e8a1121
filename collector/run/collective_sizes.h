// How many bytes each launch of a communication kernel was to move: joins what NCCL said of its
// calls (CommunicationCallBatch) to the kernels that the calling thread launched meanwhile. A group
// (ncclGroupStart to ncclGroupEnd) is one operation: NCCL launches its kernels at its end.
//
// Memory is bounded; what finds no room stays without a size. Times are of the process's CPU clock.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_COLLECTIVE_SIZES_H_
#define UTLZ_COLLECTOR_RUN_COLLECTIVE_SIZES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/kernel_names/collective_kind.h"
#include "collector/run/kernel_table.h"
#include "collector/run/nvtx_range_correlator.h"
#include "collector/run/process_table.h"
#include "proto/profile.pb.h"

namespace utlz {

// Operations of one collective, of like size, among as many ranks.
struct CollectiveGroup {
  std::string collective;  // CollectiveOf() the kernels
  uint32_t ranks = 0;      // 0 = not known, or not the same
  uint32_t size_log2 = 0;  // of the bytes of a launch, rounded down

  // There is no null pointer in it, as clang-tidy 14 thinks.
  auto operator<=>(const CollectiveGroup&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct CollectiveTotals {
  uint64_t launches = 0;  // of kernels
  double time_ns = 0;     // of them together
  double bytes = 0;       // of whole messages: of all ranks, where each holds a share
  // Over the slowest link; of the operations whose number of ranks is known, or does not matter.
  double link_bytes = 0;
  double link_time_ns = 0;
};

class CollectiveSizes {
 public:
  static constexpr size_t kMaxThreads = 4096;
  static constexpr size_t kMaxDepth = 64;          // functions open on a thread
  static constexpr size_t kMaxFunctionBytes = 64;  // of their names: NCCL has no longer one
  static constexpr size_t kMaxMembers = 16384;     // calls of an operation
  static constexpr size_t kMaxWaiting = 1u << 17;  // operations whose launches may still come
  static constexpr size_t kMaxCommunicators = 65536;  // of all processes
  static constexpr size_t kMaxGroups = 4096;

  // False where the columns do not agree; then nothing was taken. `correlator` knows what was
  // launched: it must be settled before this is, and not outlive it without being settled.
  bool Add(const ProcessState& process, const CommunicationCallBatch& batch,
           NvtxRangeCorrelator* correlator);
  // Counts the operations of `source` that ended before `watermark_ns`.
  void Settle(uint32_t source, uint64_t watermark_ns, const KernelTable& kernels);
  void SettleAll(const KernelTable& kernels);

  const std::map<CollectiveGroup, CollectiveTotals>& groups() const { return groups_; }
  // Whether any call came.
  bool known() const { return known_; }
  // Launches whose message is known but not, for want of the number of ranks, the whole.
  uint64_t launches_without_ranks() const { return launches_without_ranks_; }

 private:
  // Of the calls of one operation that run the same kernels.
  struct Part {
    uint64_t calls = 0;
    double bytes = 0;
    double sent_bytes = 0, received_bytes = 0;  // of these the larger counts
    double link_bytes = 0;
    bool whole_known = true;
    bool link_known = true;
    uint32_t ranks = 0;  // 0 = not known, or not the same

    void Add(const Part& other);
  };
  struct Operation {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    uint64_t number = 0;  // in the order in which they ended
    size_t members = 0;
    std::map<std::string_view, Part> parts;  // by CollectiveOf() the kernels
    MarkerKernels kernels;
  };
  struct Thread {
    std::vector<std::string> open;  // functions
    size_t groups = 0;              // begun and not ended
    std::unique_ptr<Operation> operation;
  };
  struct Source {
    std::map<uint64_t, uint32_t> ranks;  // by communicator
    std::set<uint32_t> unnamed_ranks;    // of communicators without a name
    std::multimap<uint64_t, std::unique_ptr<Operation>> waiting;  // by end
  };
  struct Launched {
    uint64_t launches = 0;
    double time_ns = 0;
  };

  static void Begin(std::string_view function, uint64_t time_ns, Thread* thread);
  void End(uint32_t source, uint32_t thread_id, uint64_t time_ns, Thread* thread,
           NvtxRangeCorrelator* correlator);
  void Learn(uint64_t communicator, uint32_t ranks, Source* source);
  static void AddMember(const CollectiveKind& kind, uint64_t bytes, uint32_t ranks,
                        Operation* operation);
  // Those that ended before `watermark_ns`, in the order in which they came.
  static std::vector<std::unique_ptr<Operation>> TakeEnded(uint64_t watermark_ns, Source* source);
  static uint32_t RanksOf(uint64_t communicator, const Source& source);
  void Forget(uint32_t source);
  void Count(const Operation& operation, const KernelTable& kernels);
  void Count(std::string_view collective, const Part& part, const Launched& launched);

  std::map<std::pair<uint32_t, uint32_t>, Thread> threads_;  // by source and thread
  std::map<uint32_t, Source> sources_;
  size_t waiting_ = 0;
  uint64_t operations_ = 0;
  size_t communicators_ = 0;
  std::map<CollectiveGroup, CollectiveTotals> groups_;
  uint64_t launches_without_ranks_ = 0;
  bool known_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_COLLECTIVE_SIZES_H_
