#include "collector/run/activity_delivery.h"

#include <algorithm>

#include "collector/counters/unseen_work.h"
#include "collector/each_in_threads.h"
#include "collector/run/untraced_time.h"

namespace utlz {
namespace {

// A device that holds fewer activities does not look at the watermark.
constexpr size_t kReleaseBatch = 65536;
// With more processes, or a device that holds many activities, a look at the watermark costs much:
// then so many bytes of frames come between two looks.
constexpr size_t kFewProcesses = 1024;
constexpr size_t kReleaseBytes = 64u << 10;
// The most activities that all devices together hold.
constexpr size_t kMostHeld = 8 * ActivitySorter::kDefaultMaximumHeld;

}  // namespace

void ActivityDelivery::ReleaseFull() {
  const bool look = bytes_since_look_ >= kReleaseBytes;
  if (look) bytes_since_look_ = 0;
  const bool few_processes = state_->processes.processes().size() <= kFewProcesses;
  const uint64_t watermark_ns = state_->processes.WatermarkNs(kWatermarkSlackNs);
  size_t held = 0;
  for (uint32_t i = 0; i < state_->devices.size(); ++i) {
    const ActivitySorter& queue = state_->devices[i].queue;
    const bool is_cheap = few_processes && queue.held() < 4 * kReleaseBatch;
    if (queue.full() || (queue.held() >= kReleaseBatch && (look || is_cheap))) {
      ReleaseDevice(i, watermark_ns);
    }
    held += queue.held();
  }
  if (held >= kMostHeld) ReleaseHalfOfEach();
}

void ActivityDelivery::Advance() { ReleaseEach(state_->processes.WatermarkNs(kWatermarkSlackNs)); }

void ActivityDelivery::ReleaseAll() {
  state_->correlator.SettleAll();
  state_->collective_sizes.SettleAll(state_->kernels);
  ReleaseEach(UINT64_MAX);
}

// Only attribution takes long, and knows of no other device.
void ActivityDelivery::ReleaseEach(uint64_t watermark_ns) {
  const size_t devices = state_->devices.size();
  for (uint32_t i = 0; i < devices; ++i) Place(i, watermark_ns);
  EachInThreads(devices, threads_, [this](size_t i) { Attribute(static_cast<uint32_t>(i)); });
}

// Whatever the watermark says: there are too many devices for each to fill its own queue.
void ActivityDelivery::ReleaseHalfOfEach() {
  for (uint32_t i = 0; i < state_->devices.size(); ++i) {
    const ActivitySorter& queue = state_->devices[i].queue;
    if (queue.held() > 0) ReleaseDevice(i, queue.MiddleNs() + 1);
  }
}

void ActivityDelivery::ReleaseDevice(uint32_t index, uint64_t watermark_ns) {
  Place(index, watermark_ns);
  Attribute(index);
}

void ActivityDelivery::Place(uint32_t index, uint64_t watermark_ns) {
  DeviceState& device = state_->devices[index];
  uint64_t reached_ns = 0;
  SettleUntracedBefore(watermark_ns, index, state_);
  const std::span<const Activity> released = device.queue.Release(watermark_ns, &reached_ns);
  for (size_t i = 0; i < released.size(); ++i) {
    if (released[i].kind == ActivityKind::kUntraced) {
      DeliverUntraced(released.subspan(i), index);
    } else {
      Deliver(released[i], index);
    }
  }
  device.released_until_ns = std::max(device.released_until_ns, reached_ns);
  device.sweep.AdvanceTo(device.released_until_ns);
  device.process_timelines.AdvanceTo(device.released_until_ns);
  UpdateUntracedTime(index, state_);
  state_->ranges.AdvanceTo(index, device.released_until_ns);
}

void ActivityDelivery::Attribute(uint32_t index) {
  DeviceState& device = state_->devices[index];
  const uint64_t cpu_before_ns = cpu_clock_ ? cpu_clock_() : 0;
  device.attribution.AdvanceTo(device.released_until_ns);
  if (cpu_clock_) device.attribution_cpu_ns += cpu_clock_() - cpu_before_ns;
}

// `released` begins with it.
void ActivityDelivery::DeliverUntraced(std::span<const Activity> released, uint32_t index) {
  Activity untraced = released.front();
  const ProcessState& process = *state_->processes.processes().at(untraced.source);
  const auto busiest = process.busiest_stream.find(index);
  if (busiest != process.busiest_stream.end()) {
    untraced.end_ns =
        EndOfUnseenWork(untraced, released, busiest->second.id, state_->devices[index].attribution);
  }
  Deliver(untraced, index);
}

void ActivityDelivery::Deliver(const Activity& activity, uint32_t index) {
  DeviceState& device = state_->devices[index];
  device.OnActivity(activity);
  state_->eager_order.Add(index, activity);
  if (step_kernel_.Marks(activity.kernel, state_->kernels)) {
    device.named_steps.Add(activity.start_ns);
  }
  state_->ranges.AddActivity(index, activity);
  if (activity.kernel == kNoKernel) return;
  const bool communication = activity.kind == ActivityKind::kCommunication;
  state_->collective_order.Add(activity.source, activity.kernel, communication);
  if (communication) {
    state_->arrivals.Add(activity.source, activity.start_ns, activity.end_ns);
  }
}

}  // namespace utlz
