#include "collector/analysis/steady_part.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace utlz {
namespace {

constexpr double kMostKernelTime = 0.5;
// By how much the time of steps may differ from that of others of their kind, as a share.
constexpr double kSamePace = 0.15;
// An idle stretch of this many steps is a pause between them, not a slow step.
constexpr double kStepsOfAPause = 10;
constexpr double kShortestPauseNs = 1e8;

// Late records shorten idle time after its gaps were classified.
void MoveLateTime(const DeviceState& device, StretchContent* content) {
  const double idle_ns = device.ledger.Between(0, UINT64_MAX).IdleNs();
  if (device.sweep.late_ns() == 0 || idle_ns <= 0) return;
  const double late_share = std::min(1.0, static_cast<double>(device.sweep.late_ns()) / idle_ns);
  for (size_t i = 0; i < kGapCategories; ++i) {
    const double moved_ns = late_share * content->time_ns[i];
    content->time_ns[i] -= moved_ns;
    content->time_ns[static_cast<size_t>(TimeCategory::kCompute)] += moved_ns;
  }
}

void TakePausesOut(const DeviceState& device, const StepsSpan& steps, DevicePart* part) {
  std::vector<WeighedTime::Cut> cuts;
  for (const LongGap& gap : device.ledger.long_gaps()) {
    if (!IsPause(device, steps, gap)) continue;
    cuts.push_back({.start_ns = gap.start_ns, .end_ns = gap.end_ns});
    const auto length_ns = static_cast<double>(gap.end_ns - gap.start_ns);
    const double weighed_ns = part->time.LengthNs(gap.start_ns, gap.end_ns);
    const auto category = static_cast<size_t>(gap.category);
    const double taken_ns = std::min(weighed_ns, part->content.time_ns[category]);
    const double pauses = weighed_ns / length_ns;
    part->content.time_ns[category] -= taken_ns;
    part->content.gaps[category] = std::max(0.0, part->content.gaps[category] - pauses);
    part->pause_ns += taken_ns;
    part->pauses += pauses;
  }
  part->gap_time = part->gap_time.Without(cuts);
}

// Shortens all gaps in the stretch of a hold-up by the same share: which of them utlz lengthened is
// not known.
void SubtractStalls(const DeviceState& device, const StepsSpan& steps, DevicePart* part) {
  std::vector<WeighedTime::Cut> cuts;
  for (const HoldUp& hold_up : steps.hold_ups) {
    const StretchContent there = device.ledger.Between(hold_up.start_ns, hold_up.end_ns);
    const double idle_ns = there.IdleNs();
    if (idle_ns <= 0) continue;
    const auto length_ns = static_cast<double>(hold_up.end_ns - hold_up.start_ns);
    const double weight = part->time.LengthNs(hold_up.start_ns, hold_up.end_ns) / length_ns;
    const double share = std::min(1.0, hold_up.time_ns / idle_ns);
    cuts.push_back({hold_up.start_ns, hold_up.end_ns, share});
    for (size_t i = 0; i < kGapCategories; ++i) {
      const double taken_ns = std::min(weight * share * there.time_ns[i], part->content.time_ns[i]);
      part->content.time_ns[i] -= taken_ns;
      part->stall_ns += taken_ns;
    }
  }
  part->gap_time = part->gap_time.Without(cuts);
}

WeighedTime AllTimeOf(const StepsSpan& steps) {
  WeighedTime time;
  time.Add(steps.start_ns, steps.end_ns, 1);
  return time;
}

// Of the device whose steps they are: time that is summed so is of the same steps as their mean.
WeighedTime StepsThemselves(const StepsSpan& steps) {
  WeighedTime time;
  for (const TracedSteps& one : steps.traced) time.Add(one.start_ns, one.end_ns, one.weight);
  return time;
}

// Another device works on the same steps. Its windows lie between those of the first one, and hold
// more or fewer steps. A step has as many operations in one window as in another, so that what the
// device did in one step is known.
WeighedTime AroundSteps(const StepsSpan& steps, const ActivityTotals& ledger) {
  WeighedTime time;
  uint64_t start_ns = steps.start_ns;
  for (size_t i = 0; i < steps.traced.size(); ++i) {
    const TracedSteps& one = steps.traced[i];
    uint64_t end_ns = steps.end_ns;
    if (i + 1 < steps.traced.size()) {
      end_ns = one.end_ns + (steps.traced[i + 1].start_ns - one.end_ns) / 2;
    }
    const double operations = ledger.OperationsBetween(start_ns, end_ns);
    if (operations > 0) time.Add(start_ns, end_ns, one.steps * one.weight / operations);
    start_ns = end_ns;
  }
  return time;
}

// What a device did in the steps, without what is no time of theirs.
DevicePart PartIn(WeighedTime time, const DeviceState& device, const StepsSpan& steps) {
  DevicePart part;
  part.content = time.ContentOf(device.ledger);
  part.gap_time = time;
  part.time = std::move(time);
  TakePausesOut(device, steps, &part);
  SubtractStalls(device, steps, &part);
  MoveLateTime(device, &part.content);
  return part;
}

// The traced time stays as long as it was, and is divided as the weighed one is.
void TakeProportionsOf(DevicePart weighed, DevicePart* part) {
  if (weighed.TimeNs() <= 0) return;
  const double scale = part->TimeNs() / weighed.TimeNs();
  const double traced_kernel_ns = part->content.KernelNs();
  for (size_t i = 0; i < kTimeCategories; ++i) {
    if (static_cast<TimeCategory>(i) == TimeCategory::kUntraced) continue;
    part->content.time_ns[i] = scale * weighed.content.time_ns[i];
  }
  for (size_t i = 0; i < kGapCategories; ++i) {
    part->content.gaps[i] = scale * weighed.content.gaps[i];
  }
  part->time = std::move(weighed.time);
  part->time.Multiply(scale);
  part->gap_time = std::move(weighed.gap_time);
  part->gap_time.Multiply(scale);
  if (traced_kernel_ns > 0) part->kernel_weight = part->content.KernelNs() / traced_kernel_ns;
}

// Kernel time of all steps. `steps_kernel_ns` is that of the steps up to the last traced one, where
// a traced step counts for the untraced ones that it stands for. Later steps do as much.
double KernelNsOfAllSteps(const StepsSpan& steps, double steps_kernel_ns) {
  double length_ns = 0;
  for (const TracedSteps& one : steps.traced) {
    const auto between_ns = static_cast<double>(one.end_ns - one.start_ns);
    length_ns += one.weight * one.traced_share * between_ns;
  }
  return length_ns > 0 ? steps_kernel_ns * (1 + steps.after_ns / length_ns) : 0;
}

// How many operations another device does in a step. AroundSteps weighs its time as if it did one.
double OperationsOfAStep(const StepsSpan& steps, const ActivityTotals& ledger) {
  double traced_steps = 0;
  for (const TracedSteps& one : steps.traced) traced_steps += one.steps;
  if (traced_steps <= 0) return 0;
  return ledger.OperationsBetween(steps.start_ns, steps.end_ns) / traced_steps;
}

// Whether the program went on with steps after the last one that was traced whole. It did where
// less than one step was traced of what followed: a step was under way when tracing ended, and
// nothing speaks for anything else. It also did where the steps that were counted there by their
// operations take as long as what followed.
bool WentOn(const StretchContent& after, const StepsSpan& steps) {
  const double all_ns = std::accumulate(after.time_ns.begin(), after.time_ns.end(), 0.0);
  if (all_ns - after.UntracedNs() < steps.usual_step_ns) return true;
  return steps.after_ns > 0 && std::abs(steps.after_ns - all_ns) <= kSamePace * all_ns;
}

// Takes untraced time to have been like the traced time around it.
double ProbableKernelNs(const ActivityTotals& ledger, uint64_t start_ns, uint64_t end_ns) {
  const StretchContent content = ledger.Between(start_ns, end_ns);
  const double all_ns = std::accumulate(content.time_ns.begin(), content.time_ns.end(), 0.0);
  const double traced_ns = all_ns - content.UntracedNs();
  return traced_ns > 0 ? content.KernelNs() * all_ns / traced_ns : 0;
}

// As long as its operations took where they were traced; else as long as the traced time says.
double ProbableKernelNsAfter(const ActivityTotals& ledger, const StepsSpan& steps) {
  const StretchContent after = ledger.Between(steps.end_ns, UINT64_MAX);
  if (!steps.operations_after.has_value() || after.operations <= 0) {
    return ProbableKernelNs(ledger, steps.end_ns, UINT64_MAX);
  }
  return after.KernelNs() * std::max(1.0, *steps.operations_after / after.operations);
}

// Whether agents ended records for good while the program went on (decision 0027).
bool HaveRecordsEnded(const RunState& state) {
  return std::any_of(
      state.processes.processes().begin(), state.processes.processes().end(),
      [](const auto& process) { return process.second->status.records_state() == RECORDS_ENDED; });
}

}  // namespace

// Input that came late is no pause, however late. For how long our own counters held the program up
// says nothing of it.
bool IsPause(const DeviceState& device, const StepsSpan& steps, const LongGap& gap) {
  if (gap.start_ns < steps.start_ns || gap.end_ns > steps.end_ns) return false;
  if (device.calibration_stalls.Holds(gap)) return true;
  const auto length_ns = static_cast<double>(gap.end_ns - gap.start_ns);
  return (gap.category == TimeCategory::kOtherGap || gap.category == TimeCategory::kReadbackGap) &&
         length_ns >= std::max(kShortestPauseNs, kStepsOfAPause * steps.usual_step_ns);
}

double UntracedTimeOfLaterSteps(const ActivityTotals& ledger, const StepsSpan& steps) {
  const uint64_t until_ns = steps.end_ns + static_cast<uint64_t>(steps.after_ns);
  return ledger.Between(steps.end_ns, until_ns).UntracedNs();
}

double DevicePart::TimeNs() const {
  return std::accumulate(content.time_ns.begin(), content.time_ns.end(), 0.0) -
         content.UntracedNs();
}

DevicePart SteadyPart::Of(const DeviceState& device, uint32_t index) const {
  if (!steps.has_value()) {
    DevicePart part;
    part.content = device.ledger.Between(0, UINT64_MAX);
    part.time.Add(0, UINT64_MAX, 1);
    part.gap_time = part.time;
    MoveLateTime(device, &part.content);
    return part;
  }
  DevicePart part = PartIn(AllTimeOf(*steps), device, *steps);
  const double all_ns = device.ledger.Between(0, UINT64_MAX).KernelNs();
  const double kernel_ns = device.ledger.Between(steps->start_ns, steps->end_ns).KernelNs();
  part.kernel_share = all_ns > 0 ? kernel_ns / all_ns : 0;
  part.untraced_before_ns = device.ledger.Between(0, steps->start_ns).UntracedNs();
  part.untraced_after_ns = device.ledger.Between(steps->end_ns, UINT64_MAX).UntracedNs();
  const bool own = index == steps->device;
  WeighedTime time = own ? StepsThemselves(*steps) : AroundSteps(*steps, device.ledger);
  DevicePart weighed = PartIn(std::move(time), device, *steps);
  const double operations = own ? 1 : OperationsOfAStep(*steps, device.ledger);
  const double all_steps_ns = KernelNsOfAllSteps(*steps, operations * weighed.content.KernelNs());
  if (kernel_ns > 0) part.kernel_scale = std::max(1.0, all_steps_ns / kernel_ns);
  TakeProportionsOf(std::move(weighed), &part);
  return part;
}

SteadyPart FindSteadyPart(const RunState& state, const std::optional<StepsSpan>& steps) {
  SteadyPart part;
  if (!steps.has_value() || steps->device >= state.devices.size()) return part;
  const ActivityTotals& ledger = state.devices[steps->device].ledger;
  const double inside_ns = ProbableKernelNs(ledger, steps->start_ns, steps->end_ns);
  // Where records have ended for good, what came after the last step was more of them.
  const StretchContent after = ledger.Between(steps->end_ns, UINT64_MAX);
  const double after_ns = HaveRecordsEnded(state) || WentOn(after, *steps)
                              ? after.KernelNs()
                              : ProbableKernelNsAfter(ledger, *steps);
  const double outside_ns = ProbableKernelNs(ledger, 0, steps->start_ns) + after_ns;
  if (inside_ns > 0 && inside_ns >= kMostKernelTime * (inside_ns + outside_ns)) part.steps = steps;
  return part;
}

}  // namespace utlz
