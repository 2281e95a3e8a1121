#include "collector/session/sampling_pace.h"

#include <algorithm>

namespace utlz {
namespace {

constexpr double kEnough = 0.05;
// Twice the samples make an error of chance 0.71 times as wide; one that stays is not of chance.
constexpr uint64_t kMoreSamples = 2;
constexpr double kStays = 0.85;
// It became worse: there are kernels that were not there before.
constexpr double kWorse = 1.2;

}  // namespace

bool SamplingPace::Enough(const CounterPrecision& found, Device* device) {
  if (found.imprecision <= kEnough) return true;
  if (device->samples == 0 || found.imprecision > kWorse * device->imprecision) {
    *device = {.samples = found.samples, .imprecision = found.imprecision};
    return false;
  }
  if (found.samples < kMoreSamples * device->samples) return device->enough;
  const bool stays = found.imprecision > kStays * device->imprecision && found.imprecision < 1;
  device->samples = found.samples;
  device->imprecision = found.imprecision;
  return stays;
}

void SamplingPace::Looked(uint64_t now_ns, uint64_t took_ns,
                          const std::vector<CounterPrecision>& found) {
  seldom_.clear();
  for (const CounterPrecision& precision : found) {
    Device& device = devices_[precision.device_uuid];
    const bool before = device.enough;
    device.enough = Enough(precision, &device);
    // One look may have met windows that were all alike.
    if (device.enough && before) seldom_.insert(precision.device_uuid);
  }
  const bool more_wanted = seldom_.size() < found.size();
  next_ns_ = now_ns + std::max(more_wanted ? kPauseNs : kSeldomPauseNs, kShare * took_ns);
}

}  // namespace utlz
