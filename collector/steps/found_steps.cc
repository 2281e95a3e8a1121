#include "collector/steps/found_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "collector/median.h"

namespace utlz {
namespace {

constexpr size_t kFewestSteps = 3;
// Fewer untraced stretches between traced steps do not show how long an untraced step takes.
constexpr size_t kFewestGaps = 4;
// Untraced steps are taken to be like those that were traced in so short a time beside them, as
// untraced launches are (WindowTimes::kSliceNs).
constexpr uint64_t kBesideNs = 500'000'000;
// A program ends with operations of its own: taken to be this share of a step's.
constexpr double kWayOut = 0.1;
// The relative difference at which the found number of steps still counts as the expected one.
constexpr double kExpectedTolerance = 0.05;
// Of a device's launches: with fewer, others may make the pattern in them.
constexpr double kNearlyAllLaunches = 0.95;

std::vector<Step> StepsOf(const std::vector<std::pair<uint64_t, uint64_t>>& bounds) {
  std::vector<Step> steps;
  steps.reserve(bounds.size());
  for (const auto& [start_ns, end_ns] : bounds) {
    steps.push_back({.start_ns = start_ns, .end_ns = end_ns, .content = {}});
  }
  return steps;
}

uint64_t KernelTimeNs(const RunState& state, uint32_t device) {
  uint64_t time_ns = 0;
  for (const Kernel& kernel : state.kernels.kernels()) {
    if (kernel.device == device) time_ns += kernel.durations.sum_ns();
  }
  return time_ns;
}

// The device that did most speaks of steps that the program itself names.
FoundSteps StepsByMarks(const RunState& state) {
  FoundSteps found;
  found.source = "nvtx";
  found.steps = StepsOf(state.step_marks.Steps());
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    const uint64_t most = found.device == nullptr ? 0 : found.device->sweep.TimeNs(kKernelMask);
    if (!device.used || device.sweep.TimeNs(kKernelMask) < most) continue;
    found.device = &device;
    found.device_index = i;
  }
  return found;
}

// Source and bounds of one device's steps.
std::pair<std::string, std::vector<Step>> StepsOn(const RunState& state, uint32_t index) {
  const DeviceState& device = state.devices[index];
  if (!state.options.step_kernel.empty()) {
    return {"kernel", StepsOf(device.named_steps.Steps())};
  }
  std::vector<Step> by_graph = StepsOf(device.graphs.StepsOfMainGraph(KernelTimeNs(state, index)));
  if (by_graph.size() >= kFewestSteps) return {"graph", std::move(by_graph)};
  return {"pattern", StepsOf(device.steps.Steps())};
}

// Without the steps' contents. A kernel that somebody named goes before what the program says.
FoundSteps FindBounds(const RunState& state) {
  if (state.options.step_kernel.empty() && !state.step_marks.Steps().empty()) {
    return StepsByMarks(state);
  }
  FoundSteps found;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    auto [source, steps] = StepsOn(state, i);
    if (steps.size() <= found.steps.size()) continue;
    const bool hold_layers = source == "pattern";
    found = {.source = std::move(source),
             .device = &state.devices[i],
             .device_index = i,
             .hold_layers = hold_layers,
             .steps = std::move(steps)};
  }
  return found;
}

void SubtractStalls(const DeviceState& device, std::vector<Step>* steps) {
  for (const LongGap& gap : device.ledger.long_gaps()) {
    if (!device.calibration_stalls.Holds(gap)) continue;
    for (Step& step : *steps) {
      const double overlap_ns = OverlapNs(gap, step.start_ns, step.end_ns);
      if (overlap_ns <= 0) continue;
      step.stall_ns += overlap_ns;
      step.held_up_by = "utlz set counters for exact ranges";
    }
  }
}

// Steps that the time between two others, some of it untraced, holds: by the operations in it, else
// as long as those two.
double UntracedSteps(const FoundSteps& found, const OperationAxis& axis, const Step& before,
                     const Step& after, double untraced_ns) {
  const auto operations = axis.Between(before.end_ns, after.start_ns);
  if (operations.has_value() && found.operations > 0) return *operations / found.operations;
  const double step_ns = (before.length_ns() + after.length_ns()) / 2;
  return step_ns > 0 ? untraced_ns / step_ns : 0;
}

// The steps that end untraced time at `first`, and those like them that follow it closely.
void SpreadForward(double untraced, size_t first, std::vector<Step>* steps) {
  const uint64_t until_ns = (*steps)[first].start_ns + kBesideNs;
  size_t end = first + 1;
  while (end < steps->size() && !(*steps)[end].after_untraced && (*steps)[end].end_ns <= until_ns) {
    ++end;
  }
  const double each = untraced / static_cast<double>(end - first);
  for (size_t i = first; i < end; ++i) (*steps)[i].weight += each;
}

// The same before untraced time, at the end of which `after` begins.
void SpreadBackward(double untraced, size_t after, std::vector<Step>* steps) {
  const uint64_t until_ns = (*steps)[after - 1].end_ns;
  size_t first = after - 1;
  while (first > 0 && !(*steps)[first].after_untraced &&
         (*steps)[first - 1].start_ns + kBesideNs >= until_ns) {
    --first;
  }
  const double each = untraced / static_cast<double>(after - first);
  for (size_t i = first; i < after; ++i) (*steps)[i].weight += each;
}

// Whether some stretch of partly traced steps lies between two times.
bool IsPartlyTraced(const FoundSteps& found, uint64_t start_ns, uint64_t end_ns) {
  const auto first = std::partition_point(
      found.partly_traced.begin(), found.partly_traced.end(),
      [start_ns](const PartlyTraced& stretch) { return stretch.start_ns < start_ns; });
  return first != found.partly_traced.end() && first->end_ns <= end_ns;
}

// Tracing is dense where a program begins, and sparse later: there the steps that were traced stand
// for those around them that were not, half of these on each side. Steps that were traced in part
// stand for themselves.
void WeighSteps(const OperationAxis& axis, FoundSteps* found) {
  std::vector<Step>& steps = found->steps;
  std::vector<double> untraced(steps.size());
  for (size_t i = 1; i < steps.size(); ++i) {
    const Step& before = steps[i - 1];
    if (steps[i].start_ns <= before.end_ns) continue;
    const double untraced_ns =
        found->ledger().Between(before.end_ns, steps[i].start_ns).UntracedNs();
    if (untraced_ns < 1) continue;
    steps[i].after_untraced = true;
    if (IsPartlyTraced(*found, before.end_ns, steps[i].start_ns)) continue;
    untraced[i] = UntracedSteps(*found, axis, before, steps[i], untraced_ns);
  }
  for (size_t i = 1; i < steps.size(); ++i) {
    if (untraced[i] <= 0) continue;
    SpreadBackward(untraced[i] / 2, i, &steps);
    SpreadForward(untraced[i] / 2, i, &steps);
  }
}

// The median of the means of so many stretches of steps. A step in which the program does something
// else as well changes the mean of its stretch alone. Where another stream runs the small kernels
// of many steps at once, most steps have fewer operations than the program launches for them.
constexpr size_t kStretches = 9;

double OperationsOfStep(const std::vector<Step>& steps) {
  if (steps.empty()) return 0;
  const size_t length = std::max<size_t>(1, steps.size() / kStretches);
  std::vector<double> means;
  for (size_t first = 0; first + length <= steps.size(); first += length) {
    double operations = 0;
    for (size_t i = first; i < first + length; ++i) operations += steps[i].content.operations;
    means.push_back(operations / static_cast<double>(length));
  }
  return UpperMedian(std::move(means));
}

// Records what the device did in each step, and what it did in stretches of partly traced steps.
void FillSteps(const RunState& state, FoundSteps* found) {
  if (found->device == nullptr) return;
  SubtractStalls(*found->device, &found->steps);
  for (Step& step : found->steps) {
    step.content = found->ledger().Between(step.start_ns, step.end_ns);
  }
  std::vector<Step> cut;
  std::vector<Step> whole;
  for (const Step& step : found->steps) {
    (step.content.UntracedNs() < 1 ? whole : cut).push_back(step);
  }
  found->steps = std::move(whole);
  found->operations = OperationsOfStep(found->steps);
  const OperationAxis axis = AxisOf(state, *found);
  found->partly_traced = FindPartlyTraced({.ledger = found->ledger(),
                                           .axis = axis,
                                           .operations = found->operations,
                                           .steps = found->steps},
                                          cut);
  WeighSteps(axis, found);
}

// All levels that a device's launches show, longest steps first.
std::vector<FoundSteps> LevelsOn(const RunState& state, uint32_t index) {
  const DeviceState& device = state.devices[index];
  std::vector<FoundSteps> levels;
  const auto add = [&](const char* source, bool hold_layers,
                       const std::vector<std::pair<uint64_t, uint64_t>>& bounds) {
    if (bounds.size() < 2) return;
    levels.push_back({.source = source,
                      .device = &device,
                      .device_index = index,
                      .hold_layers = hold_layers,
                      .steps = StepsOf(bounds)});
  };
  add("graph", false, device.graphs.StepsOfMainGraph(KernelTimeNs(state, index)));
  add("pattern", false, device.steps.Calls());
  add("pattern", true, device.steps.Steps());
  if (const auto layers = device.steps.FindLayers()) add("pattern", false, layers->times);
  return levels;
}

// The level with about as many steps as --steps says.
std::optional<FoundSteps> FindExpected(const RunState& state) {
  std::vector<FoundSteps> all;
  if (FoundSteps marked = StepsByMarks(state); marked.device != nullptr) {
    all.push_back(std::move(marked));
  }
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    for (FoundSteps& level : LevelsOn(state, i)) all.push_back(std::move(level));
  }
  for (FoundSteps& found : all) {
    FillSteps(state, &found);
    if (found.steps.size() < 2) continue;
    const OperationAxis axis = AxisOf(state, found);
    if (AreAsMany(CountSteps(found, StepsAfter(found, axis)), state.options.steps)) return found;
  }
  return std::nullopt;
}

// By device: whether its launches are nearly all of this process.
std::vector<bool> OwnDevices(const RunState& state, uint32_t source) {
  std::vector<double> own(state.devices.size());
  std::vector<double> all(state.devices.size());
  for (const Kernel& kernel : state.kernels.kernels()) {
    if (kernel.device >= all.size()) continue;
    for (const KernelShare& share : kernel.shares) {
      const auto launches = static_cast<double>(share.launches + share.untimed);
      all[kernel.device] += launches;
      if (share.source == source) own[kernel.device] += launches;
    }
  }
  std::vector<bool> owned(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    owned[i] = own[i] > 0 && own[i] >= kNearlyAllLaunches * all[i];
  }
  return owned;
}

uint64_t KernelTimeNs(const RunState& state, uint32_t device, uint32_t source) {
  uint64_t time_ns = 0;
  for (const Kernel& kernel : state.kernels.kernels()) {
    if (kernel.device != device) continue;
    for (const KernelShare& share : kernel.shares) {
      if (share.source == source) time_ns += share.time_ns;
    }
  }
  return time_ns;
}

// Source and bounds of a process's steps on a device that it shares.
std::pair<std::string, std::vector<Step>> OwnStepsOn(const RunState& state, uint32_t index,
                                                     uint32_t source,
                                                     const ProcessTimeline& timeline) {
  std::vector<Step> by_graph = StepsOf(
      state.devices[index].graphs.StepsOfMainGraph(source, KernelTimeNs(state, index, source)));
  if (by_graph.size() >= kFewestSteps) return {"graph", std::move(by_graph)};
  return {"pattern", StepsOf(timeline.steps().Steps())};
}

// Without the steps' contents. A kernel that somebody named marks steps of the whole device only.
FoundSteps FindBoundsOf(const RunState& state, uint32_t source) {
  const bool named = !state.options.step_kernel.empty();
  const std::vector<bool> owned = OwnDevices(state, source);
  std::vector<Step> marked;
  if (!named) marked = StepsOf(state.step_marks.StepsOf(source));
  FoundSteps found;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const ProcessTimeline* own = state.devices[i].process_timelines.Of(source);
    if (!owned[i] && (own == nullptr || named)) continue;
    auto [marks, steps] = !marked.empty() ? std::pair(std::string("nvtx"), marked)
                          : owned[i]      ? StepsOn(state, i)
                                          : OwnStepsOn(state, i, source, *own);
    if (steps.size() <= found.steps.size()) continue;
    const bool hold_layers = owned[i] && marks == "pattern";
    found = {.source = std::move(marks),
             .device = &state.devices[i],
             .device_index = i,
             .hold_layers = hold_layers,
             .steps = std::move(steps)};
    if (!owned[i]) found.process = source;
  }
  return found;
}

}  // namespace

const ActivityTotals& FoundSteps::ledger() const {
  const ProcessTimeline* own =
      process.has_value() ? device->process_timelines.Of(*process) : nullptr;
  return own == nullptr ? device->ledger : own->ledger();
}

uint64_t FoundSteps::end_ns() const {
  const uint64_t whole_ns = steps.back().end_ns;
  return partly_traced.empty() ? whole_ns : std::max(whole_ns, partly_traced.back().end_ns);
}

OperationAxis AxisOf(const RunState& state, const FoundSteps& found) {
  if (!found.process.has_value()) return {state, found.device_index};
  return {state, found.device_index, *found.process, found.ledger()};
}

std::optional<double> StepsAfter(const FoundSteps& found, const OperationAxis& axis) {
  const auto after = axis.Between(found.end_ns(), axis.end_ns());
  if (!after.has_value() || found.operations <= 0) return std::nullopt;
  const bool marked_anywhere = found.source == "pattern" || found.source == "kernel";
  if (!marked_anywhere) return std::floor(*after / found.operations);
  // The kernel that marks the steps may be anywhere in one: what precedes it in the first and what
  // follows it in the last make one more together.
  return 1 + std::max(0.0, std::floor(*after / found.operations - kWayOut));
}

double CountSteps(const FoundSteps& found, std::optional<double> after) {
  double count = after.value_or(0);
  for (const Step& step : found.steps) count += step.weight;
  for (const PartlyTraced& stretch : found.partly_traced) count += stretch.steps;
  return count;
}

bool AreAsMany(double count, double expected) {
  return expected > 0 && std::abs(count - expected) <= std::max(1.0, kExpectedTolerance * expected);
}

double OverlapNs(const LongGap& gap, uint64_t start_ns, uint64_t end_ns) {
  const uint64_t first_ns = std::max(gap.start_ns, start_ns);
  const uint64_t last_ns = std::min(gap.end_ns, end_ns);
  return last_ns > first_ns ? static_cast<double>(last_ns - first_ns) : 0;
}

FoundSteps FindSteps(const RunState& state) {
  if (state.options.steps > 0 && state.options.step_kernel.empty()) {
    if (std::optional<FoundSteps> level = FindExpected(state)) return *std::move(level);
  }
  FoundSteps found = FindBounds(state);
  FillSteps(state, &found);
  return found;
}

bool WorksAlone(const RunState& state, uint32_t source) {
  const auto& processes = state.processes.processes();
  const auto found = processes.find(source);
  if (found == processes.end() || found->second->recorded_until_ns.empty()) return false;
  return std::none_of(processes.begin(), processes.end(), [source](const auto& entry) {
    return entry.first != source && !entry.second->recorded_until_ns.empty();
  });
}

FoundSteps FindStepsOf(const RunState& state, uint32_t source) {
  if (WorksAlone(state, source)) return FindSteps(state);
  FoundSteps found = FindBoundsOf(state, source);
  FillSteps(state, &found);
  return found;
}

std::optional<StepRate> RateOf(const FoundSteps& found, const OperationAxis& axis, size_t warmup) {
  if (found.device == nullptr || found.operations <= 0) return std::nullopt;
  const std::vector<Step>& steps = found.steps;
  double time_ns = 0;
  double count = 0;
  double traced_ns = 0;
  double weight = 0;
  size_t gaps = 0;
  for (size_t i = warmup; i < steps.size(); ++i) {
    time_ns += steps[i].length_ns();
    ++count;
    traced_ns += steps[i].weight * steps[i].length_ns();
    weight += steps[i].weight;
    if (i == warmup || steps[i].start_ns <= steps[i - 1].end_ns) continue;
    const uint64_t from_ns = steps[i - 1].end_ns;
    const uint64_t to_ns = steps[i].start_ns;
    if (found.ledger().Between(from_ns, to_ns).UntracedNs() < 1) continue;
    const auto operations = axis.Between(from_ns, to_ns);
    if (!operations.has_value()) return std::nullopt;
    ++gaps;
    time_ns += static_cast<double>(to_ns - from_ns);
    count += *operations / found.operations;
  }
  if (gaps < kFewestGaps || count <= 0 || weight <= 0) return std::nullopt;
  return StepRate{.mean_ns = time_ns / count, .traced_mean_ns = traced_ns / weight};
}

}  // namespace utlz
