#include "collector/timeline/process_timelines.h"

#include <algorithm>

namespace utlz {

ProcessTimeline::ProcessTimeline() : ledger_(kMostPoints), steps_(kSearchLaunches) {
  sweep_.SetObserver([this](const ActivitySegment& segment) { ledger_.Add(segment); });
}

void ProcessTimeline::Add(const Activity& activity) {
  sweep_.Add(activity);
  ledger_.AddStart(activity);
  steps_.Add(activity);
  if (activity.kernel != kNoKernel) latest_kernel_ns_ = activity.start_ns;
}

void ProcessTimelines::Add(const Activity& activity) {
  const bool kernel = activity.kernel != kNoKernel;
  if (kernel && !first_.has_value()) first_ = activity.source;
  if (timelines_.empty() && (!kernel || activity.source == first_)) return;
  const auto known = timelines_.find(activity.source);
  ProcessTimeline* timeline = known == timelines_.end() ? nullptr : &known->second;
  if (timeline == nullptr && kernel) timeline = Begin(activity);
  if (timeline != nullptr) timeline->Add(activity);
}

void ProcessTimelines::AdvanceTo(uint64_t time_ns) {
  for (auto& [source, timeline] : timelines_) timeline.AdvanceTo(time_ns);
}

ProcessTimeline* ProcessTimelines::Begin(const Activity& kernel) {
  if (timelines_.size() >= kMost) ForgetOneBefore(kernel.start_ns);
  return timelines_.size() < kMost ? &timelines_[kernel.source] : nullptr;
}

void ProcessTimelines::ForgetOneBefore(uint64_t time_ns) {
  const auto oldest =
      std::min_element(timelines_.begin(), timelines_.end(), [](const auto& a, const auto& b) {
        return a.second.latest_kernel_ns() < b.second.latest_kernel_ns();
      });
  if (oldest->second.latest_kernel_ns() + kForgottenNs < time_ns) timelines_.erase(oldest);
}

const ProcessTimeline* ProcessTimelines::Of(uint32_t source) const {
  if (source > UINT16_MAX) return nullptr;
  const auto found = timelines_.find(static_cast<uint16_t>(source));
  return found == timelines_.end() ? nullptr : &found->second;
}

}  // namespace utlz
