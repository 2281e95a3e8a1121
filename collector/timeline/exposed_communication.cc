#include "collector/timeline/exposed_communication.h"

namespace utlz {
namespace {

constexpr ActivityMask kCommunicationMask = MaskOf(ActivityKind::kCommunication);
constexpr ActivityMask kComputeMask = MaskOf(ActivityKind::kCompute);

}  // namespace

void ExposedCommunication::AddLaunch(const Activity& activity) {
  if (activity.kind != ActivityKind::kCommunication || running_.size() >= kMaxRunning) return;
  running_.push_back(activity);
}

void ExposedCommunication::Add(const ActivitySegment& segment) {
  if (running_.empty()) return;
  std::erase_if(running_, [&](const Activity& run) { return run.end_ns <= segment.start_ns; });
  const bool exposed = (segment.mask & kCommunicationMask) != 0 &&
                       (segment.mask & (kComputeMask | kUntracedMask)) == 0;
  if (!exposed || running_.empty()) return;
  // The kinds that run do not change within a segment, so all that run at its start run to its end.
  const double share_ns =
      static_cast<double>(segment.end_ns - segment.start_ns) / static_cast<double>(running_.size());
  for (const Activity& run : running_) exposed_ns_[run.kernel] += share_ns;
}

double ExposedCommunication::ExposedNs(uint32_t kernel) const {
  const auto found = exposed_ns_.find(kernel);
  return found == exposed_ns_.end() ? 0 : found->second;
}

}  // namespace utlz
