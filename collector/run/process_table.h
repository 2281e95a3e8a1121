// What each process said about itself: devices, contexts, names, variants, and how its recording
// went. Identifiers inside (strings, variants, contexts, ordinals) are the process's own.
//
// Trust: everything here comes from a target. Tables are bounded; what does not fit is refused.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_PROCESS_TABLE_H_
#define UTLZ_COLLECTOR_RUN_PROCESS_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/run/memory_budget.h"
#include "collector/windows/trace_coverage.h"
#include "collector/windows/untraced_work.h"
#include "collector/windows/window_times.h"
#include "proto/profile.pb.h"

namespace utlz {

// Function and shape of a kernel variant, as the process recorded it.
struct VariantShape {
  uint32_t name = 0;  // string identifier
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t cluster[3] = {};
  uint32_t registers_per_thread = 0;
  uint32_t shared_bytes = 0;
  uint32_t flags = 0;
  uint32_t graph = 0;
  uint64_t graph_node = 0;
  uint32_t captured_stack = 0;  // of the node, by the process's identifier; 0: not seen
};

struct StreamCount {
  uint64_t launches = 0;
  uint64_t kernel_time_ns = 0;
};

struct BusiestStream {
  std::pair<uint32_t, uint32_t> id;  // (context, stream)
  uint64_t kernel_time_ns = 0;
};

struct ProcessState {
  uint32_t source = 0;
  Process info;
  AgentStatus status;
  bool has_status = false;
  std::optional<ProcessEnd> end;

  // Until the process has ended, as are the next two, kernel_by_variant and stack_by_id.
  std::vector<std::string> strings;  // index = identifier; 0 is the empty string
  std::vector<VariantShape> variants;
  // Of all devices that it sees, as ranks of one job see each other's: ordinal → index into
  // DeviceTable.
  std::map<uint32_t, uint32_t> device_by_ordinal;
  std::unordered_map<uint32_t, uint32_t> ordinal_by_context;
  // Indices of devices on which kernels or copies ran → when the last recorded one ended.
  std::map<uint32_t, uint64_t> recorded_until_ns;
  std::map<uint32_t, UntracedWork> untraced_work;  // by device
  // Kernel of a variant on a device, +1; 0 = not yet looked up. [device index][variant + 1], the
  // first place for variants that were never announced.
  std::map<uint32_t, std::vector<uint32_t>> kernel_by_variant;
  std::vector<uint32_t> stack_by_id;  // index = identifier; StackTable's number
  size_t naming_bytes = 0;            // charged for the above
  std::map<std::pair<uint32_t, uint32_t>, StreamCount> streams;  // (context, stream)
  std::map<uint32_t, BusiestStream> busiest_stream;              // by device

  uint64_t launches = 0;
  uint64_t graph_nodes = 0;  // of `launches`
  uint64_t launches_untimed = 0;
  uint64_t launches_implausible = 0;  // of the untimed ones: their times cannot be true
  uint64_t launches_unplaced = 0;     // of a context whose device is not known
  uint64_t kernel_time_ns = 0;
  uint64_t copies_untimed = 0;
  uint64_t copies_implausible = 0;  // of these: their times cannot be true
  uint64_t wire_bytes = 0;
  uint64_t newest_ns = 0;  // of the newest message: the process was there
  uint64_t worked_ns = 0;  // when something of it last ended on a GPU, or was last given a number
  uint64_t first_ns = 0;   // start of the earliest record
  TraceCoverage coverage;
  WindowTimes windows;

  bool live() const { return !end.has_value(); }
  // Kernels or copies were recorded that ran on this device until `end_ns`. No effect where the
  // process does not see the device.
  void AddWorkOn(uint32_t device, uint64_t end_ns);
  // The devices on which the process has a context, or the only device that it sees.
  std::set<uint32_t> DevicesHeld() const;
  // The devices on which the process ran kernels or copies. Until it runs the first one:
  // DevicesHeld.
  std::set<uint32_t> DevicesUsed() const;
  // Records of what had ended on this device by then were handed over, where the process did not
  // end by itself and that is known: it was killed, or what is known of it was cut off. They come
  // in order of time, so that those before the newest one have come, too.
  std::optional<uint64_t> HandedOverUntilNs(uint32_t device) const;
  // When it ended, else `now_ns`.
  uint64_t LivedUntilNs(uint64_t now_ns) const {
    return end.has_value() && end->time_ns() != 0 ? std::min<uint64_t>(end->time_ns(), now_ns)
                                                  : now_ns;
  }
};

class ProcessTable {
 public:
  static constexpr size_t kMaxProcesses = 65536;
  static constexpr size_t kMaxStringBytes = 16u << 10;  // of one string, as agents cut them
  static constexpr uint32_t kMaxStringIds = 1u << 20;   // of one process
  // Identifiers count up. So many may be missing, of a frame that was damaged in a profile.
  static constexpr uint32_t kMaxMissingIds = 1024;
  static constexpr size_t kMaxWindows = 4u << 20;  // of all processes together
  static constexpr size_t kMaxContexts = 65536;    // of one process
  static constexpr size_t kMaxStreams = 65536;     // of one process

  explicit ProcessTable(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // Makes the process where it is new; null when there are too many.
  ProcessState* Get(uint32_t source);

  // A frame by which a process describes its contexts, names and kernel variants. Nothing for
  // frames of other types; false where it is refused.
  std::optional<bool> TakeDescription(uint16_t type, std::string_view payload,
                                      ProcessState* process);
  // False where the message breaks a rule; then it had no effect.
  bool AddStrings(ProcessState* process, const Strings& message);
  bool AddVariants(ProcessState* process, const Variants& message);
  bool AddContext(ProcessState* process, const Context& message);
  void AddWindow(ProcessState* process, const TraceWindow& message);

  // The counts of one of the process's streams; null when there are too many.
  StreamCount* StreamOf(ProcessState* process, uint32_t context, uint32_t stream);

  // The process launches nothing any more: gives up what names its kernels.
  void ForgetNames(ProcessState* process);

  const std::map<uint32_t, std::unique_ptr<ProcessState>>& processes() const { return processes_; }

  // No record that is still to come starts before this: the least of the live processes' newest
  // records, less `slack_ns`; where no process lives, the newest record of all.
  uint64_t WatermarkNs(uint64_t slack_ns) const;

  // Call this after each frame of a process, which may have brought its newest record.
  void Advanced(const ProcessState& process) {
    newest_ns_ = std::max(newest_ns_, process.newest_ns);
  }
  // Of all processes.
  uint64_t newest_ns() const { return newest_ns_; }

 private:
  // A live process, and what its newest record was when that was last looked at.
  using Reached = std::pair<uint64_t, uint32_t>;
  using SlowestFirst = std::priority_queue<Reached, std::vector<Reached>, std::greater<>>;

  std::map<uint32_t, std::unique_ptr<ProcessState>> processes_;
  std::shared_ptr<MemoryBudget> memory_;
  size_t windows_ = 0;
  uint64_t newest_ns_ = 0;
  mutable SlowestFirst live_;  // looked at again only once they are the slowest
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_PROCESS_TABLE_H_
