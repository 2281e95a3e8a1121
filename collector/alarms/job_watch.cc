#include "collector/alarms/job_watch.h"

#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Where counters know less of the kernels' time, they do not speak for the rest.
constexpr double kEnoughCounted = 0.8;
// Below this HFU a job does not work with its tensor cores, and its HFU says nothing.
constexpr double kLeastHfu = 0.005;

}  // namespace

Conditions JobWatch::Look(const Readings& readings) {
  // Another number of processes is another job, or its end.
  if (readings.processes.size() != processes_) {
    processes_ = readings.processes.size();
    Forget();
  }
  if (readings.processes.empty()) return {};
  AddWork(readings);
  AddPace(readings);
  Conditions conditions;
  if (const auto& fall = hfu_.fall(); fall.has_value() && fall->before >= kLeastHfu) {
    conditions.push_back(
        {.kind = AlarmKind::kHfuFell,
         .since_ns = fall->since_ns,
         .text = "HFU fell to " + PercentText(fall->now) + " from " + PercentText(fall->before),
         .value = fall->now,
         .before = fall->before});
  }
  if (const auto& fall = pace_.fall(); fall.has_value() && readings.step_seconds.has_value()) {
    conditions.push_back({.kind = AlarmKind::kStepsSlower,
                          .since_ns = fall->since_ns,
                          .text = "steps come slower: the job does " +
                                  PercentText(1 - fall->now / fall->before) +
                                  " fewer operations a second than before",
                          .value = fall->now,
                          .before = fall->before});
  }
  return conditions;
}

// Kernels that no counter met are taken to work as the others.
void JobWatch::AddWork(const Readings& readings) {
  for (const DeviceReading& device : readings.devices) {
    const auto [found, is_new] = devices_.emplace(device.uuid, device);
    if (is_new) continue;
    const double kernel_ns = device.kernel_ns - found->second.kernel_ns;
    const double counted_ns = device.counted_ns - found->second.counted_ns;
    const double peak_ns = device.peak_ns - found->second.peak_ns;
    found->second = device;
    if (counted_ns > 0 && counted_ns >= kEnoughCounted * kernel_ns) {
      peak_ns_ += peak_ns * kernel_ns / counted_ns;
    }
  }
}

void JobWatch::AddPace(const Readings& readings) {
  Point now{.peak_ns = peak_ns_};
  double time_ns = 0;
  for (const ProcessReading& process : readings.processes) {
    now.operations += process.operations;
    time_ns +=
        static_cast<double>(process.operations_ns) / static_cast<double>(readings.processes.size());
  }
  now.time_ns = static_cast<uint64_t>(time_ns);
  if (!points_.empty() && now.time_ns + FallWatch::kBlockNs < points_.back().time_ns) Forget();
  // Up to where it is known may move back for a moment.
  if (!points_.empty() &&
      (now.time_ns <= points_.back().time_ns || now.operations < points_.back().operations)) {
    return;
  }
  if (!points_.empty()) {
    const Point& first = points_.front();
    const double operations = now.operations - first.operations;
    const double of_one_ns = operations > 0 ? (now.peak_ns - first.peak_ns) / operations : 0;
    worth_ns_ += (now.operations - points_.back().operations) * of_one_ns;
  }
  points_.push_back(now);
  while (points_.size() > 2 && points_[1].time_ns + kWorthNs <= now.time_ns) points_.pop_front();
  pace_.Add(now.time_ns, now.operations);
  if (readings.devices.empty()) return;
  hfu_.Add(now.time_ns, worth_ns_ * 1e-9 / static_cast<double>(readings.devices.size()));
}

void JobWatch::Forget() {
  devices_.clear();
  points_.clear();
  pace_.Forget();
  hfu_.Forget();
}

}  // namespace utlz
