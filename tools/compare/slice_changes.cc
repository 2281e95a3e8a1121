#include "tools/compare/slice_changes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tools/compare/kernel_match.h"
#include "tools/compare/slice_names.h"

namespace utlz {
namespace {

using Runs = std::vector<Summary>;
using TimeBySlice = std::map<std::string_view, double>;  // ns

bool IsOneOf(std::string_view name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Start-up, pauses and shutdown belong to no step: put per step, they would differ with the number
// of steps.
bool BelongsToSteps(const WaterfallSlice& slice) {
  return !IsOneOf(slice.name(), kSlicesOutsideSteps);
}

bool IsOfCounters(std::string_view name) {
  return IsOneOf(name, kSlicesOfBounds) || IsOneOf(name, kSlicesOfWork);
}

std::vector<std::string> SliceNames(const CompareInput& input, bool per_step) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Runs* runs : {&input.before, &input.after}) {
    for (const Summary& run : *runs) {
      for (const WaterfallSlice& slice : run.waterfall().slices()) {
        if (per_step && !BelongsToSteps(slice)) continue;
        if (seen.insert(slice.name()).second) names.push_back(slice.name());
      }
    }
  }
  return names;
}

// Nothing where a kernel's time is in a slice of its own.
std::optional<std::string_view> SliceOf(Bound bound) {
  switch (bound) {
    case BOUND_MEMORY:
      return kSlicesOfBounds[0];
    case BOUND_LATENCY:
      return kSlicesOfBounds[1];
    case BOUND_COMPUTE:
      return kSlicesOfBounds[2];
    case BOUND_NEITHER:
      return kSlicesOfBounds[3];
    case BOUND_UNKNOWN:
      return kSlicesOfBounds[4];
    default:
      return std::nullopt;
  }
}

// Thresholds decide what bounds a kernel. A kernel whose shape is the same in all runs, but whose
// bound differs between GPUs of the same model, lies so near a threshold that noise of counters
// decides. GPUs of different models have different roofs: there, another bound is a real change.
using Bounds = std::map<std::pair<std::string, KernelShape>, std::set<std::string_view>>;

std::string NameOfDevice(const Summary& run, const KernelSummary& kernel) {
  for (const DeviceSummary& device : run.devices()) {
    if (device.uuid() == kernel.device_uuid()) return device.name();
  }
  return {};
}

Bounds BoundsOf(const CompareInput& input) {
  Bounds bounds;
  for (const Runs* runs : {&input.before, &input.after}) {
    for (const Summary& run : *runs) {
      for (const KernelSummary& kernel : run.kernels()) {
        const std::optional<std::string_view> slice = SliceOf(kernel.bound());
        if (slice) bounds[{NameOfDevice(run, kernel), ShapeOf(kernel)}].insert(*slice);
      }
    }
  }
  return bounds;
}

TimeBySlice UncertainTime(const Summary& run, const PerWhat& per, const Bounds& bounds) {
  TimeBySlice uncertain;
  for (const KernelSummary& kernel : run.kernels()) {
    const auto found = bounds.find({NameOfDevice(run, kernel), ShapeOf(kernel)});
    if (found == bounds.end() || found->second.size() < 2) continue;
    for (const std::string_view slice : found->second) {
      uncertain[slice] += kernel.time_ns() / per.divisor;
    }
  }
  return uncertain;
}

// One run's slices, each as uncertain as the step or run that it is part of: all of the whole's
// noise may sit in any slice.
class RunSlices {
 public:
  RunSlices(const Summary& run, const PerWhat& per, double run_to_run_share, const Bounds& bounds)
      : run_(run), per_(per), uncertain_(UncertainTime(run, per, bounds)) {
    double whole_ns = 0;
    for (const WaterfallSlice& slice : run.waterfall().slices()) {
      if (BelongsToSteps(slice)) whole_ns += SliceTime(slice, per);
    }
    whole_error_ns_ = whole_ns * std::hypot(TimeError(run), run_to_run_share);
  }

  std::optional<Estimate> Read(const std::string& name) const {
    if (!run_.has_waterfall()) return std::nullopt;
    if (IsOfCounters(name) && IsMostlyUncounted(run_)) return std::nullopt;
    Estimate estimate;
    for (const WaterfallSlice& slice : run_.waterfall().slices()) {
      if (slice.name() == name) estimate.value += SliceTime(slice, per_);
    }
    const auto uncertain = uncertain_.find(name);
    estimate.error =
        std::hypot(whole_error_ns_, uncertain == uncertain_.end() ? 0 : uncertain->second);
    return estimate;
  }

 private:
  const Summary& run_;
  PerWhat per_;
  TimeBySlice uncertain_;
  double whole_error_ns_ = 0;
};

std::vector<RunSlices> SlicesOf(const Runs& runs, const std::vector<PerWhat>& units,
                                const DiffOptions& options, const Bounds& bounds) {
  const double between = runs.size() < 2 ? options.run_to_run_share : 0;
  std::vector<RunSlices> slices;
  for (size_t i = 0; i < runs.size(); ++i) {
    slices.emplace_back(runs[i], units[i], between, bounds);
  }
  return slices;
}

Estimates Read(const std::vector<RunSlices>& runs, const std::string& name) {
  Estimates estimates;
  for (const RunSlices& run : runs) estimates.push_back(run.Read(name));
  return estimates;
}

}  // namespace

std::vector<SliceChange> CompareSlices(const CompareInput& input, bool per_step) {
  const Bounds bounds = BoundsOf(input);
  const std::vector<RunSlices> before =
      SlicesOf(input.before, input.units_before, input.options, bounds);
  const std::vector<RunSlices> after =
      SlicesOf(input.after, input.units_after, input.options, bounds);
  const std::vector<std::string> names = SliceNames(input, per_step);
  const TestOptions test =
      input.Test(static_cast<double>(names.size()), input.options.least_share * input.whole_ns);
  std::vector<SliceChange> changes;
  for (const std::string& name : names) {
    changes.push_back({name, CompareEstimates(Read(before, name), Read(after, name), test)});
  }
  return changes;
}

}  // namespace utlz
