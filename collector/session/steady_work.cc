#include "collector/session/steady_work.h"

#include <algorithm>

namespace utlz {

void SteadyWork::Look(uint64_t now_ns, const std::vector<KernelTime>& kernels) {
  next_ns_ = now_ns + kPauseNs;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (i == times_ns_.size()) times_ns_.push_back(0);
    const uint64_t work_ns = kernels[i].time_ns - std::min(kernels[i].time_ns, times_ns_[i]);
    times_ns_[i] = kernels[i].time_ns;
    if (work_ns == 0) continue;
    Device* const device = &devices_[kernels[i].device];
    device->work_ns += work_ns;
    device->worked_ns = now_ns;
    if (kernels[i].span_ns >= kKnownNs) device->known_ns += work_ns;
  }
  for (auto& [index, device] : devices_) Judge(now_ns, &device);
}

void SteadyWork::Judge(uint64_t now_ns, Device* device) {
  if (device->work_ns < kLeastWorkNs) return;
  if (device->begun_ns == 0) device->begun_ns = now_ns;
  const auto known_ns = static_cast<double>(device->known_ns);
  device->steady = known_ns >= kSteadyShare * static_cast<double>(device->work_ns) ||
                   now_ns - device->begun_ns >= kLongestStartUpNs;
  device->work_ns = 0;
  device->known_ns = 0;
}

bool SteadyWork::AtWork(uint64_t now_ns, uint32_t device) const {
  const auto found = devices_.find(device);
  return found != devices_.end() && found->second.worked_ns != 0 &&
         now_ns - found->second.worked_ns <= kAtWorkNs;
}

bool SteadyWork::Steady(uint32_t device) const {
  const auto found = devices_.find(device);
  return found != devices_.end() && found->second.steady;
}

}  // namespace utlz
