// What each process said about itself: devices, contexts, names, variants, and how its recording
// went. Identifiers inside (strings, variants, contexts, ordinals) are the process's own.
//
// Trust: everything here comes from a target. Tables are bounded; what does not fit is refused.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_PROCESS_TABLE_H_
#define UTLZ_COLLECTOR_MODEL_PROCESS_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/model/trace_coverage.h"
#include "collector/model/window_times.h"
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
  uint64_t graph_node = 0;
};

struct StreamCount {
  uint64_t launches = 0;
  uint64_t kernel_time_ns = 0;
};

struct ProcessState {
  uint32_t source = 0;
  Process info;
  AgentStatus status;
  bool has_status = false;
  std::optional<ProcessEnd> end;

  std::vector<std::string> strings;  // index = identifier; 0 is the empty string
  std::vector<VariantShape> variants;
  std::map<uint32_t, uint32_t> device_by_ordinal;      // ordinal → index into DeviceTable
  std::unordered_map<uint32_t, uint32_t> ordinal_by_context;
  // Kernel of a variant on a device, +1; 0 = not yet looked up. [device index][variant + 1], the
  // first place for variants that were never announced.
  std::map<uint32_t, std::vector<uint32_t>> kernel_by_variant;
  std::map<std::pair<uint32_t, uint32_t>, StreamCount> streams;  // (context, stream)

  uint64_t launches = 0;
  uint64_t graph_nodes = 0;  // of `launches`
  uint64_t launches_timeless = 0;
  uint64_t launches_implausible = 0;  // of the timeless ones: their times cannot be true
  uint64_t launches_unplaced = 0;  // of a context whose device is not known
  uint64_t kernel_time_ns = 0;
  uint64_t copies_timeless = 0;
  uint64_t copies_implausible = 0;  // of these: their times cannot be true
  uint64_t wire_bytes = 0;
  uint64_t newest_ns = 0;          // end of the newest record
  uint64_t first_ns = 0;           // start of the earliest record
  TraceCoverage coverage;
  WindowTimes windows;

  bool live() const { return !end.has_value(); }
  // Records of what had ended by then were all handed over, where the process did not end by itself
  // and that was told: it was killed, or what is known of it was cut off.
  std::optional<uint64_t> HandedOverUntilNs() const;
  // When it ended, else `now_ns`.
  uint64_t LivedUntilNs(uint64_t now_ns) const {
    return end.has_value() && end->time_ns() != 0 ? std::min<uint64_t>(end->time_ns(), now_ns)
                                                  : now_ns;
  }
};

class ProcessTable {
 public:
  static constexpr size_t kMaxProcesses = 65536;
  static constexpr size_t kMaxStringBytes = 256u << 20;   // of all processes together
  static constexpr size_t kMaxVariants = 4u << 20;        // of all processes together
  static constexpr uint32_t kMaxStringIds = 1u << 20;     // of one process
  static constexpr size_t kMaxContexts = 65536;           // of one process
  static constexpr size_t kMaxStreams = 65536;            // of one process

  // Makes the process where it is new; null when there are too many.
  ProcessState* Get(uint32_t source);

  // False where the message breaks a rule; then it had no effect.
  bool AddStrings(ProcessState* process, const Strings& message);
  bool AddVariants(ProcessState* process, const Variants& message);
  bool AddContext(ProcessState* process, const Context& message);

  const std::map<uint32_t, std::unique_ptr<ProcessState>>& processes() const { return processes_; }

  // No record that is still to come starts before this: the least of the live processes' newest
  // records, less `slack_ns`; where no process lives, the newest record of all.
  uint64_t WatermarkNs(uint64_t slack_ns) const;

 private:
  std::map<uint32_t, std::unique_ptr<ProcessState>> processes_;
  size_t string_bytes_ = 0;
  size_t variants_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_PROCESS_TABLE_H_
