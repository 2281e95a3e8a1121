// Joins one device's launches, copies and counter samples to the attribution engine, and reads the
// answer back as FLOP- and byte-shaped numbers of kernels (collector/attribution/engine.h).
//
// One engine a metric set, since an engine's counters are fixed; few sets are ever used.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_ATTRIBUTION_FEED_H_
#define UTLZ_COLLECTOR_COUNTERS_ATTRIBUTION_FEED_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/attribution/engine.h"
#include "collector/counters/counter_set.h"
#include "collector/counters/kernel_part.h"
#include "collector/counters/work_without_records.h"
#include "collector/decode/sample_decoder.h"
#include "collector/timeline/activity.h"

namespace utlz {

// What was counted on the device while it was sampled, by role.
struct CounterTotal {
  double counted = 0;
  double attributed = 0;
  double idle = 0;
  double unattributed = 0;
};

struct Attribution {
  // Parts of one kernel, ascending by duration: every launch is of one of them.
  std::map<uint32_t, std::vector<KernelPart>> parts_by_kernel;
  std::map<ActivityKind, KernelPart> copies;
  std::map<size_t, std::vector<uint32_t>> kernels_by_group;
  std::array<std::optional<CounterTotal>, kMetricRoles> totals;
  std::optional<double> shift_dram_ns;
  std::optional<double> shift_sm_ns;
  uint64_t samples = 0;
  uint64_t untraced_samples = 0;  // taken while launches were not recorded: no kernel has them
  std::array<double, kMetricRoles> sampled_ns{};  // behind `totals`
  // In which multiprocessors were active while nothing was recorded. In no total.
  double left_out_active_cycles = 0;
};

class AttributionFeed {
 public:
  static constexpr size_t kMaxMetricSets = 4;

  // False where no more sets can be taken. A set of a known identifier is kept as it is.
  // `peaks` as far as they are known.
  bool AddMetricSet(const MetricSet& set, uint32_t multiprocessors, const DevicePeaks& peaks);
  const CounterSet* CountersOf(uint32_t id) const;

  void AddActivity(const Activity& activity);
  // Anything may have run then: its samples say nothing about kernels.
  void AddUntraced(uint64_t start_ns, uint64_t end_ns);
  // `row` is in the order of CountersOf(id)->roles().
  void AddSample(uint32_t id, uint64_t start_ns, uint64_t end_ns, const std::vector<double>& row);
  // Everything that starts before `watermark_ns` has been added.
  void AdvanceTo(uint64_t watermark_ns);

  bool has_samples() const { return samples_ > 0; }
  // What samples show of the multiprocessors in this time, as far as AdvanceTo has not reached it.
  // Returns nothing where several processes were recorded: samples do not say which one was active.
  WorkWithoutRecords::Seen SeenBetween(uint64_t start_ns, uint64_t end_ns) const {
    return without_records_.SeenBetween(start_ns, end_ns);
  }
  // Up to `threads` share the work; what is found does not depend on how many.
  Attribution Solve(unsigned threads = 1) const;

 private:
  struct SetEngine {
    CounterSet counters;
    std::vector<size_t> attributed;  // indices into the row: elapsed cycles are not work
    std::optional<size_t> active;    // indices of SM cycles
    std::optional<size_t> elapsed;
    attribution::Engine engine;
    uint64_t samples = 0;
  };

  static void Merge(const SetEngine& set, const attribution::Solution& solution,
                    Attribution* result);
  static void FillMissing(const SetEngine& set, const attribution::Solution& solution,
                          Attribution* result);
  void LeaveOut(uint64_t start_ns, uint64_t end_ns);
  void LeaveOut(const std::vector<WorkWithoutRecords::Span>& spans);

  std::map<uint32_t, std::unique_ptr<SetEngine>> engines_;
  WorkWithoutRecords without_records_;
  std::vector<double> values_;
  uint64_t samples_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_ATTRIBUTION_FEED_H_
