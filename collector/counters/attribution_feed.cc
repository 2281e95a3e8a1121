#include "collector/counters/attribution_feed.h"

#include <algorithm>

#include "collector/counters/counter_limits.h"
#include "collector/each_in_threads.h"

namespace utlz {
namespace {

// Numbers of copies among the engine's variants, above every kernel's.
constexpr uint64_t kFirstCopyVariant = uint64_t{1} << 40;

std::string ShiftGroupOf(MetricRole role) {
  switch (role) {
    case METRIC_DRAM_READ_BYTES:
      return "dram read";
    case METRIC_DRAM_WRITE_BYTES:
      return "dram write";
    case METRIC_L2_BYTES:
      return "l2";
    case METRIC_PCIE_READ_BYTES:
    case METRIC_PCIE_WRITE_BYTES:
    case METRIC_NVLINK_RX_BYTES:
    case METRIC_NVLINK_TX_BYTES:
      return "links";
    default:
      return "sm";
  }
}

attribution::Options OptionsFor(const CounterSet& counters, const std::vector<size_t>& attributed,
                                const DevicePeaks& peaks) {
  attribution::Options options;
  for (const size_t index : attributed) {
    const MetricRole role = counters.roles()[index];
    options.counters.push_back(
        {.name = MetricRole_Name(role),
         .shift_group = ShiftGroupOf(role),
         .max_per_ns = MostPerNs(role, peaks),
         .behind_caches = role == METRIC_DRAM_READ_BYTES || role == METRIC_DRAM_WRITE_BYTES});
  }
  return options;
}

attribution::IntervalKind KindFor(ActivityKind kind) {
  if (kind == ActivityKind::kMemset) return attribution::IntervalKind::kMemset;
  if ((MaskOf(kind) & kKernelMask) != 0) return attribution::IntervalKind::kKernel;
  return attribution::IntervalKind::kMemcpy;
}

KernelPart PartOf(const attribution::ColumnEstimate& column) {
  KernelPart part;
  part.part = column.part;
  part.parts = std::max(1u, column.parts);
  part.minimum_ns = static_cast<uint64_t>(std::max<int64_t>(0, column.min_duration_ns));
  part.maximum_ns = static_cast<uint64_t>(std::max<int64_t>(0, column.max_duration_ns));
  part.launches = column.launches;
  part.sampled_launches = column.sampled_launches;
  part.group = column.group;
  return part;
}

// More than an idle GPU's multiprocessors are active.
constexpr double kActiveShare = 0.02;

}  // namespace

bool AttributionFeed::AddMetricSet(const MetricSet& set, uint32_t multiprocessors,
                                   const DevicePeaks& peaks) {
  if (engines_.contains(set.id())) return true;
  if (engines_.size() >= kMaxMetricSets) return false;
  CounterSet counters(set, multiprocessors);
  std::vector<size_t> attributed;
  for (size_t i = 0; i < counters.roles().size(); ++i) {
    const MetricRole role = counters.roles()[i];
    if (role != METRIC_SM_CYCLES_ELAPSED && role != METRIC_DRAM_CYCLES_ELAPSED) {
      attributed.push_back(i);
    }
  }
  attribution::Engine engine(OptionsFor(counters, attributed, peaks));
  const auto active = counters.IndexOf(METRIC_SM_CYCLES_ACTIVE);
  const auto elapsed = counters.IndexOf(METRIC_SM_CYCLES_ELAPSED);
  engines_.emplace(set.id(),
                   std::make_unique<SetEngine>(SetEngine{std::move(counters), std::move(attributed),
                                                         active, elapsed, std::move(engine)}));
  return true;
}

const CounterSet* AttributionFeed::CountersOf(uint32_t id) const {
  const auto found = engines_.find(id);
  return found == engines_.end() ? nullptr : &found->second->counters;
}

void AttributionFeed::AddActivity(const Activity& activity) {
  if (activity.kind == ActivityKind::kUntraced) {
    AddUntraced(activity.start_ns, activity.end_ns);
    without_records_.TracingWentOn(activity.source, activity.end_ns);
    return;
  }
  LeaveOut(without_records_.Recorded(activity.source, activity.start_ns, activity.end_ns));
  const uint64_t variant = activity.kernel != kNoKernel
                               ? activity.kernel
                               : kFirstCopyVariant + static_cast<uint64_t>(activity.kind);
  for (auto& [id, set] : engines_) {
    set->engine.AddInterval(variant, KindFor(activity.kind),
                            static_cast<int64_t>(activity.start_ns),
                            static_cast<int64_t>(activity.end_ns));
  }
}

void AttributionFeed::AddUntraced(uint64_t start_ns, uint64_t end_ns) {
  without_records_.NotTraced(start_ns, end_ns);
  LeaveOut(start_ns, end_ns);
}

void AttributionFeed::LeaveOut(uint64_t start_ns, uint64_t end_ns) {
  const auto clipped = [](uint64_t time_ns) {
    return static_cast<int64_t>(std::min<uint64_t>(time_ns, INT64_MAX));
  };
  for (auto& [id, set] : engines_) set->engine.AddUntraced(clipped(start_ns), clipped(end_ns));
}

void AttributionFeed::LeaveOut(const std::vector<WorkWithoutRecords::Span>& spans) {
  for (const WorkWithoutRecords::Span& span : spans) LeaveOut(span.start_ns, span.end_ns);
}

void AttributionFeed::AddSample(uint32_t id, uint64_t start_ns, uint64_t end_ns,
                                const std::vector<double>& row) {
  const auto found = engines_.find(id);
  if (found == engines_.end()) return;
  SetEngine& set = *found->second;
  values_.clear();
  for (const size_t index : set.attributed) values_.push_back(row[index]);
  if (set.active.has_value() && set.elapsed.has_value()) {
    without_records_.AddSampledTime(start_ns, end_ns);
    if (row[*set.active] > kActiveShare * row[*set.elapsed]) {
      without_records_.AddActiveSample(start_ns, end_ns, row[*set.active]);
    }
  }
  set.engine.AddSample(static_cast<int64_t>(start_ns), static_cast<int64_t>(end_ns), values_);
  ++set.samples;
  ++samples_;
}

void AttributionFeed::AdvanceTo(uint64_t watermark_ns) {
  LeaveOut(without_records_.NothingUntil(watermark_ns));
  const auto watermark = static_cast<int64_t>(std::min<uint64_t>(watermark_ns, INT64_MAX));
  for (auto& [id, set] : engines_) set->engine.AdvanceTo(watermark);
}

void AttributionFeed::Merge(const SetEngine& set, const attribution::Solution& solution,
                            Attribution* result) {
  const size_t first_group = result->kernels_by_group.size();
  for (const attribution::ColumnEstimate& column : solution.columns) {
    if (column.variant == attribution::kOtherVariants) continue;
    KernelPart part = PartOf(column);
    if (part.group.has_value()) *part.group += first_group;
    for (size_t i = 0; i < column.counters.size() && i < set.attributed.size(); ++i) {
      const attribution::CounterEstimate& estimate = column.counters[i];
      // A value without an error would look exact.
      if (!estimate.per_launch.has_value() || !estimate.standard_error.has_value()) continue;
      part.counters[set.counters.roles()[set.attributed[i]]] = {
          *estimate.per_launch, *estimate.standard_error, estimate.assumed_error};
    }
    if (column.variant >= kFirstCopyVariant) {
      result->copies[static_cast<ActivityKind>(column.variant - kFirstCopyVariant)] = part;
      continue;
    }
    const auto kernel = static_cast<uint32_t>(column.variant);
    if (part.group.has_value()) result->kernels_by_group[*part.group].push_back(kernel);
    result->parts_by_kernel[kernel].push_back(part);
  }
  for (auto& [kernel, parts] : result->parts_by_kernel) parts = WholeKernel(std::move(parts));
  const bool counted = solution.quality.samples > 0;
  for (size_t i = 0; counted && i < solution.totals.size() && i < set.attributed.size(); ++i) {
    const attribution::CounterTotals& total = solution.totals[i];
    const MetricRole role = set.counters.roles()[set.attributed[i]];
    result->totals[role] = {total.counted, total.attributed, total.idle, total.unattributed};
    result->sampled_ns[role] = static_cast<double>(solution.quality.sampled_ns);
  }
  for (const attribution::ShiftEstimate& shift : solution.shifts) {
    if (shift.group == "dram read") result->shift_dram_ns = shift.shift_ns;
    if (shift.group == "sm") result->shift_sm_ns = shift.shift_ns;
  }
  result->samples += solution.quality.samples;
  result->untraced_samples += solution.quality.untraced_samples;
}

// Counters that only this set has, of kernels that are one kind of work in both sets, and kernels
// that only this set's windows met.
void AttributionFeed::FillMissing(const SetEngine& set, const attribution::Solution& solution,
                                  Attribution* result) {
  Attribution other;
  Merge(set, solution, &other);
  for (const auto& [kernel, parts] : other.parts_by_kernel) {
    const auto found = result->parts_by_kernel.find(kernel);
    if (found == result->parts_by_kernel.end()) {
      const bool apart = std::none_of(parts.begin(), parts.end(), [](const KernelPart& part) {
        return part.group.has_value();
      });
      if (apart) result->parts_by_kernel[kernel] = parts;
      continue;
    }
    if (found->second.size() != 1 || parts.size() != 1) continue;
    for (size_t role = 0; role < kMetricRoles; ++role) {
      auto& counter = found->second[0].counters[role];
      if (!counter.has_value()) counter = parts[0].counters[role];
    }
  }
}

// The set with the most samples answers first: kinds of launches differ between sets, and a row
// whose numbers come from different cuts would be no row.
Attribution AttributionFeed::Solve(unsigned threads) const {
  std::vector<const SetEngine*> sets;
  for (const auto& [id, set] : engines_) {
    if (set->samples > 0) sets.push_back(set.get());
  }
  Attribution result;
  if (sets.empty()) return result;
  const auto best = std::max_element(
      sets.begin(), sets.end(),
      [](const SetEngine* a, const SetEngine* b) { return a->samples < b->samples; });
  std::rotate(sets.begin(), best, best + 1);
  std::vector<attribution::Solution> solutions(sets.size());
  const unsigned threads_of_each = ThreadsOfEach(sets.size(), threads);
  EachInThreads(sets.size(), threads,
                [&](size_t i) { solutions[i] = sets[i]->engine.Solve(threads_of_each); });
  Merge(*sets[0], solutions[0], &result);
  result.left_out_active_cycles = without_records_.left_out_cycles();
  for (size_t i = 1; i < sets.size(); ++i) FillMissing(*sets[i], solutions[i], &result);
  return result;
}

}  // namespace utlz
