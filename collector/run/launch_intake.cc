#include "collector/run/launch_intake.h"

#include <algorithm>
#include <optional>
#include <set>

#include "collector/run/launch_plausibility.h"
#include "collector/run/run_reach.h"

namespace utlz {
namespace {

// The launches of one segment: of one stream, and of one graph launch or none.
class SegmentIntake {
 public:
  SegmentIntake(const LaunchSegment& segment, const Launch* launches, uint32_t device_index,
                ProcessState* process, RunState* state)
      : segment_(segment),
        launches_(launches),
        device_index_(device_index),
        process_(process),
        state_(state),
        device_(state->devices[device_index]),
        untraced_work_(process->untraced_work[device_index]),
        place_(process->windows.PlaceOf(segment.launches > 0 ? launches[0].start_ns : 0)) {
    among_.untraced_since_ns = process->coverage.UntracedSinceNs().value_or(UINT64_MAX);
    stream_ = state->processes.StreamOf(process, segment.context, segment.stream);
  }

  void TakeAll() {
    device_.used = true;
    for (uint32_t i = 0; i < segment_.launches; ++i) Take(i);
    AddUp();
  }

 private:
  bool of_graph() const { return segment_.graph_correlation != 0; }

  void Take(uint32_t i) {
    const Launch& launch = launches_[i];
    const uint32_t kernel_index = state_->kernels.Find(process_, launch.variant, device_index_);
    Kernel& kernel = state_->kernels[kernel_index];
    if (kernel.profiler) {
      ++not_the_programs_;
      return;
    }
    KernelShare* share = state_->kernels.ShareOf(kernel_index, process_->source);
    if (!HasPlausibleTimes(i, kernel)) return TakeWithoutTimes(kernel, share);
    // A segment may be longer than a slice of a window.
    if (!process_->windows.IsAt(place_, launch.start_ns)) {
      place_ = process_->windows.PlaceOf(launch.start_ns);
    }
    const bool begins_launch = BeginsLaunch(launch);
    if (begins_launch) process_->windows.CountOperations(place_);
    AddTime(launch, &kernel, share);
    const uint32_t stack = StackTable::Find(*process_, launch.stack);
    if (stack != kNoStack) {
      state_->stack_work.Add(stack, kernel_index, launch.end_ns - launch.start_ns, place_.window);
    }
    if (of_graph()) {
      state_->graph_nodes.Add(*process_, launch.variant, kernel_index, stack,
                              launch.end_ns - launch.start_ns);
    }
    state_->correlator.AddLaunch(process_->source, launch.correlation,
                                 {.kernel = kernel_index,
                                  .duration_ns = launch.end_ns - launch.start_ns,
                                  .of_graph = of_graph()});
    device_.queue.Add(
        {.start_ns = launch.start_ns,
         .end_ns = launch.end_ns,
         .kernel = kernel_index,
         .stream = segment_.stream,
         .context = segment_.context,
         .source = static_cast<uint16_t>(process_->source),
         .kind = kernel.communication ? ActivityKind::kCommunication : ActivityKind::kCompute,
         .begins_launch = begins_launch,
         .of_graph = of_graph(),
         .stack = stack});
  }

  bool HasPlausibleTimes(uint32_t i, const Kernel& kernel) {
    const Launch& launch = launches_[i];
    if (!IsOfThisRun(launch.start_ns, launch.end_ns, state_->ReachOf(*process_))) return false;
    if (launch.end_ns - launch.start_ns < kShortestImplausibleNs) return true;
    among_.next_start_ns = i + 1 < segment_.launches ? launches_[i + 1].start_ns : UINT64_MAX;
    return IsPlausible(launch, among_, kernel);
  }

  void TakeWithoutTimes(const Kernel& kernel, KernelShare* share) {
    ++implausible_;
    if (share != nullptr) {
      ++share->untimed;
      share->by_window.Add(process_->windows, place_, {1, kernel.durations.mean_ns()});
    }
    if (!of_graph()) process_->windows.CountOperations(place_);
  }

  // Whether it is a launch of its own, or the first kernel of a graph's.
  bool BeginsLaunch(const Launch& launch) {
    if (!of_graph()) return true;
    return placed_ == 0 && device_.graphs.Begin(process_->source, segment_.graph_correlation,
                                                launches_[0].variant, launch.start_ns);
  }

  void AddTime(const Launch& launch, Kernel* kernel, KernelShare* share) {
    const uint64_t duration_ns = launch.end_ns - launch.start_ns;
    kernel->durations.Add(duration_ns);
    if (kernel->first_start_ns == 0) kernel->first_start_ns = launch.start_ns;
    kernel->last_start_ns = std::max(kernel->last_start_ns, launch.start_ns);
    if (share != nullptr) {
      ++share->launches;
      share->time_ns += duration_ns;
      share->by_window.Add(process_->windows, place_, {1, static_cast<double>(duration_ns)});
    }
    untraced_work_.Add(launch.start_ns, launch.end_ns);
    ++placed_;
    placed_ns_ += duration_ns;
    placed_until_ns_ = std::max(placed_until_ns_, launch.end_ns);
    process_->newest_ns = std::max(process_->newest_ns, launch.end_ns);
    process_->worked_ns = std::max(process_->worked_ns, launch.end_ns);
    if (process_->first_ns == 0 || launch.start_ns < process_->first_ns) {
      process_->first_ns = launch.start_ns;
    }
  }

  void AddUp() {
    process_->AddWorkOn(device_index_, placed_until_ns_);
    if (of_graph()) {
      device_.graphs.AddTime(process_->source, segment_.graph_correlation, placed_ns_);
    }
    const uint32_t launched = segment_.launches - not_the_programs_;
    state_->launches += launched;
    if (stream_ != nullptr) {
      stream_->launches += launched;
      stream_->kernel_time_ns += placed_ns_;
      BusiestStream& busiest = process_->busiest_stream[device_index_];
      if (stream_->kernel_time_ns > busiest.kernel_time_ns) {
        busiest = {{segment_.context, segment_.stream}, stream_->kernel_time_ns};
      }
    }
    process_->launches += launched - implausible_;
    if (of_graph()) process_->graph_nodes += launched - implausible_;
    process_->kernel_time_ns += placed_ns_;
    process_->launches_untimed += implausible_;
    process_->launches_implausible += implausible_;
  }

  const LaunchSegment& segment_;
  const Launch* launches_;
  uint32_t device_index_;
  ProcessState* process_;
  RunState* state_;
  DeviceState& device_;
  UntracedWork& untraced_work_;
  WindowTimes::Place place_;
  LaunchPlace among_;
  StreamCount* stream_ = nullptr;  // null: there are too many
  uint32_t not_the_programs_ = 0;
  uint32_t implausible_ = 0;
  uint32_t placed_ = 0;
  uint64_t placed_ns_ = 0;
  uint64_t placed_until_ns_ = 0;
};

void TakeSegment(const LaunchSegment& segment, const Launch* launches, ProcessState* process,
                 RunState* state) {
  const auto device = state->DeviceOf(*process, segment.context);
  if (!device.has_value()) {
    state->launches += segment.launches;
    process->launches_unplaced += segment.launches;
    return;
  }
  SegmentIntake(segment, launches, *device, process, state).TakeAll();
}

// Most are what a window's end cut, so that they belong to its last slice: without them a window
// that holds few replays of a graph would hold parts of some.
void TakeUntimed(const DecodedLaunches& decoded, ProcessState* process, RunState* state) {
  const WindowTimes::Place place = process->windows.PlaceOf(process->newest_ns);
  process->windows.CountOperations(place, decoded.untimed_operations);
  if (decoded.untimed.empty()) return;
  const std::set<uint32_t> devices = process->DevicesHeld();
  const auto device =
      devices.size() == 1 ? std::make_optional(*devices.begin()) : state->devices.Find({});
  for (const UntimedLaunches& untimed : decoded.untimed) {
    process->launches_untimed += untimed.launches;
    state->launches += untimed.launches;
    if (!device.has_value()) continue;
    const uint32_t index = state->kernels.Find(process, untimed.variant, *device);
    const Kernel& kernel = state->kernels[index];
    KernelShare* share = state->kernels.ShareOf(index, process->source);
    if (share == nullptr) continue;
    share->untimed += untimed.launches;
    const double launches = untimed.launches;
    share->by_window.Add(process->windows, place,
                         {launches, launches * kernel.durations.mean_ns()});
  }
}

}  // namespace

bool LaunchIntake::Take(std::string_view payload, ProcessState* process, RunState* state) {
  const DecodedLaunches* decoded = decoder_.Decode(payload);
  if (decoded == nullptr) return false;
  const Launch* next = decoded->launches.data();
  for (const LaunchSegment& segment : decoded->segments) {
    TakeSegment(segment, next, process, state);
    next += segment.launches;
  }
  TakeUntimed(*decoded, process, state);
  return true;
}

}  // namespace utlz
