#include "tools/export/track_lanes.h"

#include <algorithm>

namespace utlz {

std::optional<uint64_t> TrackLanes::Place(const LaneKey& key, uint64_t start_ns, uint64_t end_ns,
                                          const std::string& name) {
  std::vector<Lane>& lanes = lanes_[key];
  const auto free = std::find_if(lanes.begin(), lanes.end(),
                                 [&](const Lane& lane) { return lane.end_ns <= start_ns; });
  if (free != lanes.end()) {
    free->end_ns = end_ns;
    return free->track;
  }
  if (lanes.size() >= kMaxLanes || tracks_ >= kMaxTracks) {
    if (lanes.empty()) return std::nullopt;
    lanes.back().end_ns = std::max(lanes.back().end_ns, end_ns);
    return lanes.back().track;
  }
  lanes.push_back({++tracks_, end_ns});
  const std::string shown =
      lanes.size() == 1 ? name : name + " (overlap " + std::to_string(lanes.size()) + ")";
  sink_->Declare(TraceTrack{lanes.back().track, key.process, shown, key.gpu});
  return lanes.back().track;
}

}  // namespace utlz
