#include "tools/export/idle_before.h"

#include <algorithm>
#include <utility>

namespace utlz {

void IdleBefore::Add(uint32_t gpu, uint64_t start_ns, uint64_t end_ns, uint32_t site,
                     bool is_kernel) {
  if (end_ns < start_ns) return;
  if (gpu >= gpus_.size()) gpus_.resize(gpu + size_t{1});
  gpus_[gpu].queue.Add(
      {.start_ns = start_ns,
       .end_ns = end_ns,
       .kernel = site,
       .stream = 0,
       .context = 0,
       .source = 0,
       .kind = is_kernel ? ActivityKind::kCompute : ActivityKind::kDeviceToDevice});
  if (gpus_[gpu].queue.full()) Release(&gpus_[gpu], gpus_[gpu].queue.MiddleNs() + 1);
  if (++held_ < kMaxHeld) return;
  held_ = 0;
  for (Gpu& one : gpus_) {
    if (one.queue.held() > 0) Release(&one, one.queue.MiddleNs() + 1);
    held_ += one.queue.held();
  }
}

void IdleBefore::Release(Gpu* gpu, uint64_t watermark_ns) {
  uint64_t reached_ns = 0;
  for (const Activity& activity : gpu->queue.Release(watermark_ns, &reached_ns)) {
    Take(activity, gpu);
  }
}

void IdleBefore::Take(const Activity& activity, Gpu* gpu) {
  gpu->waiting_ns += IdleNs(activity, *gpu);
  gpu->busy_until_ns = std::max(gpu->busy_until_ns, activity.end_ns);
  if (activity.kernel == kNoSite) {
    // What follows an untraced time need not be what followed the copy.
    gpu->ownerless_ns += std::exchange(gpu->waiting_ns, 0);
  } else if (activity.kind == ActivityKind::kCompute) {
    (*sites_)[activity.kernel].idle_before_ns += std::exchange(gpu->waiting_ns, 0);
  }
}

uint64_t IdleBefore::IdleNs(const Activity& activity, const Gpu& gpu) const {
  const uint64_t start_ns = std::max(gpu.busy_until_ns, steady_.start_ns);
  const uint64_t end_ns = std::min(activity.start_ns, steady_.end_ns);
  if (gpu.busy_until_ns == 0 || activity.kernel == kNoSite || end_ns <= start_ns) return 0;
  const bool is_pause =
      activity.kind == ActivityKind::kCompute && end_ns - start_ns >= steady_.pause_ns;
  return is_pause ? 0 : end_ns - start_ns;
}

void IdleBefore::Finish() {
  for (Gpu& gpu : gpus_) {
    Release(&gpu, UINT64_MAX);
    gpu.ownerless_ns += std::exchange(gpu.waiting_ns, 0);
  }
}

}  // namespace utlz
