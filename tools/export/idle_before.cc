#include "tools/export/idle_before.h"

#include <algorithm>
#include <utility>

namespace utlz {
namespace {

// Of the gap before `activity`.
double IdleNs(const Activity& activity, uint64_t busy_until_ns, const WeighedTime& time) {
  if (busy_until_ns == 0 || activity.kernel == IdleBefore::kNoSite) return 0;
  return time.LengthNs(busy_until_ns, activity.start_ns);
}

}  // namespace

IdleBefore::Gpu* IdleBefore::GpuAt(uint32_t gpu) {
  while (gpu >= gpus_.size()) gpus_.emplace_back().time.Add(0, UINT64_MAX, 1);
  return &gpus_[gpu];
}

void IdleBefore::Add(uint32_t gpu, uint64_t start_ns, uint64_t end_ns, uint32_t site,
                     bool is_kernel) {
  if (end_ns < start_ns) return;
  GpuAt(gpu)->queue.Add(
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
  gpu->waiting_ns += IdleNs(activity, gpu->busy_until_ns, gpu->time);
  gpu->busy_until_ns = std::max(gpu->busy_until_ns, activity.end_ns);
  if (activity.kernel == kNoSite) {
    // What follows an untraced time need not be what followed the copy.
    gpu->ownerless_ns += std::exchange(gpu->waiting_ns, 0.0);
  } else if (activity.kind == ActivityKind::kCompute) {
    (*sites_)[activity.kernel].idle_before_ns += std::exchange(gpu->waiting_ns, 0.0);
  }
}

void IdleBefore::Finish() {
  for (Gpu& gpu : gpus_) {
    Release(&gpu, UINT64_MAX);
    gpu.ownerless_ns += std::exchange(gpu.waiting_ns, 0.0);
  }
}

}  // namespace utlz
