// NVTX ranges by domain and name: how often, how long on the host's clock, and, where the launching
// calls were traced, which kernels were launched inside.
//
// Bounded to kMaxMarkers names; further ones are left out and counted. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_MARKER_STATISTICS_H_
#define UTLZ_COLLECTOR_RUN_MARKER_STATISTICS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "collector/run/memory_budget.h"
#include "collector/run/nvtx_range_correlator.h"
#include "collector/run/process_table.h"
#include "proto/profile.pb.h"

namespace utlz {

struct MarkerCount {
  uint64_t count = 0;
  uint64_t time_ns = 0;
  MarkerKernels kernels;
};

// One range, as the steps need it.
struct MarkerRange {
  uint64_t start_ns;
  uint64_t end_ns;
  std::string_view domain;
  std::string_view name;
  uint32_t thread;
};

class MarkerStatistics {
 public:
  static constexpr size_t kMaxMarkers = 10000;

  explicit MarkerStatistics(std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>())
      : memory_(std::move(memory)) {}

  // False where the columns do not agree; then nothing was taken. Calls `each(MarkerRange,
  // MarkerCount*)`; the count is null where the name was left out.
  template <typename Visitor>
  bool Add(const ProcessState& process, const MarkerBatch& batch, Visitor each);

  const std::map<std::pair<std::string, std::string>, MarkerCount>& counts() const {
    return counts_;
  }
  uint64_t left_out() const { return left_out_; }

 private:
  static bool ColumnsAgree(const MarkerBatch& batch);
  static std::string_view StringOf(const ProcessState& process, uint32_t id);
  MarkerCount* Count(const MarkerRange& range);

  std::shared_ptr<MemoryBudget> memory_;
  std::map<std::pair<std::string, std::string>, MarkerCount> counts_;
  uint64_t left_out_ = 0;
};

template <typename Visitor>
bool MarkerStatistics::Add(const ProcessState& process, const MarkerBatch& batch, Visitor each) {
  if (!ColumnsAgree(batch)) return false;
  uint64_t start_ns = batch.base_ns();
  for (int i = 0; i < batch.start_delta_ns_size(); ++i) {
    start_ns += static_cast<uint64_t>(batch.start_delta_ns(i));
    const MarkerRange range = {
        .start_ns = start_ns,
        .end_ns = start_ns + batch.duration_ns(i),
        .domain = batch.domain().empty() ? std::string_view() : StringOf(process, batch.domain(i)),
        .name = StringOf(process, batch.name(i)),
        .thread = batch.thread().empty() ? 0 : batch.thread(i)};
    if (range.end_ns < range.start_ns) return false;
    each(range, Count(range));
  }
  return true;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_MARKER_STATISTICS_H_
