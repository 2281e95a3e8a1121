#include "tools/export/idle_before.h"

#include <algorithm>

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
  const uint64_t start_ns = std::max(gpu->busy_until_ns, steady_.start_ns);
  const uint64_t end_ns = std::min(activity.start_ns, steady_.end_ns);
  const bool known = gpu->busy_until_ns != 0 && activity.kernel != kNoSite;
  if (known && end_ns > start_ns) {
    const bool is_pause =
        activity.kind == ActivityKind::kCompute && end_ns - start_ns >= steady_.pause_ns;
    if (!is_pause) (*sites_)[activity.kernel].idle_before_ns += end_ns - start_ns;
  }
  gpu->busy_until_ns = std::max(gpu->busy_until_ns, activity.end_ns);
}

void IdleBefore::Finish() {
  for (Gpu& gpu : gpus_) Release(&gpu, UINT64_MAX);
}

}  // namespace utlz
