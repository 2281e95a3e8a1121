#include "tools/export/track_lanes.h"

#include <algorithm>
#include <iterator>

namespace utlz {

bool TrackLanes::IsFree(const Lane& lane, uint64_t start_ns, uint64_t end_ns) {
  if (start_ns >= lane.end_ns) return true;
  if (start_ns < lane.known_from_ns) return false;
  const auto next = lane.busy.lower_bound(start_ns);
  if (next != lane.busy.end() && next->first < end_ns) return false;
  return next == lane.busy.begin() || std::prev(next)->second <= start_ns;
}

void TrackLanes::Occupy(Lane* lane, uint64_t start_ns, uint64_t end_ns) {
  lane->end_ns = std::max(lane->end_ns, end_ns);
  if (!lane->busy.try_emplace(start_ns, end_ns).second) return;
  if (++held_ > kMaxHeld) ForgetOldest();
}

// Half of each lane's, so that it is seldom.
void TrackLanes::ForgetOldest() {
  for (auto& [key, lanes] : lanes_) {
    for (Lane& lane : lanes) {
      for (size_t left = (lane.busy.size() + 1) / 2; left > 0; --left) {
        lane.known_from_ns = std::max(lane.known_from_ns, lane.busy.begin()->second);
        lane.busy.erase(lane.busy.begin());
        --held_;
      }
    }
  }
}

std::optional<uint64_t> TrackLanes::Place(const LaneKey& key, uint64_t start_ns, uint64_t end_ns,
                                          const std::string& name) {
  std::vector<Lane>& lanes = lanes_[key];
  auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& candidate) {
    return IsFree(candidate, start_ns, end_ns);
  });
  if (lane == lanes.end()) {
    if (lanes.size() >= kMaxLanes || tracks_ >= kMaxTracks) {
      if (lanes.empty()) return std::nullopt;
      lanes.back().end_ns = std::max(lanes.back().end_ns, end_ns);
      return lanes.back().track;
    }
    lane = lanes.emplace(lanes.end());
    lane->track = ++tracks_;
    const std::string shown =
        lanes.size() == 1 ? name : name + " (overlap " + std::to_string(lanes.size()) + ")";
    sink_->Declare(TraceTrack{lane->track, key.process, shown, key.gpu});
  }
  const uint64_t track = lane->track;
  Occupy(&*lane, start_ns, end_ns);
  return track;
}

}  // namespace utlz
