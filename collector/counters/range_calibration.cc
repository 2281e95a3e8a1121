#include "collector/counters/range_calibration.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace utlz {
namespace {

constexpr std::string_view kTotalPrefix = "sm__ops_path_tensor_src_";
constexpr std::string_view kOperationPrefix = "sm__ops_path_tensor_op_";
// Instructions of warp groups (wgmma), whatever else multiplies the same type.
constexpr std::string_view kWarpGroupPrefix = "sm__ops_path_tensor_op_hgmma_";
constexpr std::string_view kSource = "src_";

struct TypeName {
  std::string_view metric;
  std::string_view data_type;
};
constexpr TypeName kTypeNames[] = {{"bf16", "bf16"}, {"fp16", "fp16"}, {"tf32", "tf32"},
                                   {"fp8", "fp8"},   {"int8", "int8"}, {"fp64", "fp64_tensor"}};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

std::string_view DataTypeOfOperationsMetric(std::string_view metric) {
  if (!StartsWith(metric, kTotalPrefix) && !StartsWith(metric, kOperationPrefix)) return {};
  if (metric.find("sparsity") != std::string_view::npos) return {};
  const size_t source = metric.find(kSource);
  if (source == std::string_view::npos) return {};
  const std::string_view type = metric.substr(source + kSource.size());
  for (const TypeName& name : kTypeNames) {
    if (StartsWith(type, name.metric)) return name.data_type;
  }
  return {};
}

// A metric of a whole data type outranks those of its single instructions, whose sum it is.
RangeCalibration::Counts RangeCalibration::CountsOf(const RangeBatch& batch,
                                                    const RangeBatch::Range& range) {
  std::set<std::string_view> whole;
  for (const std::string& metric : batch.metric()) {
    if (StartsWith(metric, kTotalPrefix)) whole.insert(DataTypeOfOperationsMetric(metric));
  }
  Counts counts;
  for (int i = 0; i < batch.metric_size(); ++i) {
    const std::string_view metric = batch.metric(i);
    const std::string_view data_type = DataTypeOfOperationsMetric(metric);
    if (data_type.empty() || !std::isfinite(range.value(i)) || range.value(i) < 0) continue;
    if (!StartsWith(metric, kTotalPrefix) && whole.contains(data_type)) continue;
    FlopCount& count = counts[std::string(data_type)];
    count.operations += range.value(i);
    count.warp_groups_only = StartsWith(metric, kWarpGroupPrefix);
  }
  return counts;
}

bool RangeCalibration::Add(uint32_t source, uint32_t device, const RangeBatch& batch) {
  for (const RangeBatch::Range& range : batch.ranges()) {
    if (range.value_size() != batch.metric_size() || range.end_ns() <= range.start_ns())
      return false;
  }
  discarded_ += batch.discarded();
  for (const RangeBatch::Range& range : batch.ranges()) {
    if (pending_.size() >= kMaxPending) {
      ++discarded_;
      continue;
    }
    pending_.push_back({.source = source,
                        .device = device,
                        .context = range.context(),
                        .start_ns = range.start_ns(),
                        .end_ns = range.end_ns(),
                        .launches = range.launches(),
                        .seen_launches = 0,
                        .counts = CountsOf(batch, range),
                        .kernels = {}});
  }
  return true;
}

void RangeCalibration::AddActivity(uint32_t device, const Activity& activity) {
  if (activity.kernel == kNoKernel) return;
  for (Range& range : pending_) {
    if (range.device != device || range.source != activity.source ||
        range.context != activity.context || activity.start_ns < range.start_ns ||
        activity.end_ns > range.end_ns) {
      continue;
    }
    if (range.kernels.size() >= kMaxKernelsInRange) continue;
    ++range.kernels[activity.kernel];
    if (activity.begins_launch) ++range.seen_launches;
  }
}

void RangeCalibration::AdvanceTo(uint32_t device, uint64_t time_ns) {
  const auto complete = std::stable_partition(
      pending_.begin(), pending_.end(),
      [=](const Range& range) { return range.device != device || range.end_ns > time_ns; });
  for (auto range = complete; range != pending_.end(); ++range) Keep(std::move(*range));
  pending_.erase(complete, pending_.end());
}

void RangeCalibration::Keep(Range range) {
  const bool whole =
      !range.kernels.empty() && (range.launches == 0 || range.launches == range.seen_launches);
  const bool room = rows_.size() < kMaxRows || rows_.contains(range.kernels);
  if (!whole || !room) {
    ++discarded_;
    return;
  }
  ++ranges_;
  Row& row = rows_[std::move(range.kernels)];
  if (row.ranges == 0) row.first = range.counts;
  ++row.ranges;
  for (const auto& [data_type, count] : range.counts) {
    const double distance = count.operations - row.first[data_type].operations;
    row.squares[data_type] += distance * distance;
    row.counts[data_type].operations += count.operations;
    row.counts[data_type].warp_groups_only |= count.warp_groups_only;
  }
}

std::vector<CountedMix> RangeCalibration::Mixes() const {
  std::vector<CountedMix> mixes;
  for (const auto& [kernels, row] : rows_) {
    CountedMix mix = {.kernels = kernels, .counts = row.counts};
    const auto ranges = static_cast<double>(row.ranges);
    for (auto& [data_type, count] : mix.counts) {
      count.operations /= ranges;
      if (row.ranges < 2) continue;
      const double moved = count.operations - row.first.at(data_type).operations;
      const double squares = row.squares.at(data_type) - ranges * moved * moved;
      count.error = std::sqrt(std::max(0.0, squares) / (ranges - 1) / ranges);
    }
    mixes.push_back(std::move(mix));
  }
  return mixes;
}

}  // namespace utlz
