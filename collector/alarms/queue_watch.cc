#include "collector/alarms/queue_watch.h"

#include <algorithm>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

std::optional<double> HighestBusy(const Readings& readings) {
  std::optional<double> highest;
  for (const DeviceReading& device : readings.devices) highest = std::max(highest, device.busy);
  return highest;
}

}  // namespace

Conditions QueueWatch::Look(const Readings& readings) {
  if (!readings.server.has_value()) {
    readings_.clear();
    return {};
  }
  Take(*readings.server);
  const auto first = ThirdAt(0);
  const auto middle = ThirdAt(1);
  const auto last = ThirdAt(2);
  const std::optional<double> busy = HighestBusy(readings);
  if (!first || !middle || !last || busy.value_or(0) < kBusy) return {};
  const bool grows = first->waiting < middle->waiting && middle->waiting < last->waiting &&
                     last->waiting >= first->waiting + kFewestMore &&
                     last->waiting >= kGrowth * first->waiting;
  const auto [least, most] = std::minmax({first->produced, middle->produced, last->produced});
  if (!grows || least <= 0 || most > kFlat * least) return {};
  return {{.kind = AlarmKind::kQueueGrows,
           .since_ns = readings_.front().time_ns,
           .text = "the GPU is busy (" + PercentText(busy) + "), " +
                   CountText(readings_.back().waiting) + " requests wait, up from " +
                   CountText(readings_.front().waiting) +
                   ", and the server produces no more than before",
           .value = readings_.back().waiting,
           .before = readings_.front().waiting}};
}

void QueueWatch::Take(const ServerReading& reading) {
  if (!readings_.empty() && reading.time_ns == readings_.back().time_ns) return;
  const bool anew = !readings_.empty() && (reading.time_ns < readings_.back().time_ns ||
                                           reading.produced < readings_.back().produced);
  if (anew) readings_.clear();
  readings_.push_back(reading);
  while (readings_.size() > kMostReadings ||
         (readings_.size() > 2 && readings_[1].time_ns + kLengthNs <= reading.time_ns)) {
    readings_.pop_front();
  }
}

std::optional<QueueWatch::Third> QueueWatch::ThirdAt(size_t index) const {
  constexpr size_t kFewest = 3;
  const uint64_t end_ns = readings_.back().time_ns;
  if (end_ns < kLengthNs || readings_.front().time_ns > end_ns - kLengthNs) return std::nullopt;
  const uint64_t begin_ns = end_ns - kLengthNs + index * kLengthNs / 3;
  const ServerReading* from = nullptr;
  const ServerReading* to = nullptr;
  Third third;
  size_t count = 0;
  for (const ServerReading& reading : readings_) {
    if (reading.time_ns < begin_ns || reading.time_ns > begin_ns + kLengthNs / 3) continue;
    if (from == nullptr) from = &reading;
    to = &reading;
    third.waiting += reading.waiting;
    ++count;
  }
  if (count < kFewest || to->time_ns == from->time_ns) return std::nullopt;
  third.waiting /= static_cast<double>(count);
  third.produced =
      (to->produced - from->produced) / (static_cast<double>(to->time_ns - from->time_ns) * 1e-9);
  return third;
}

}  // namespace utlz
