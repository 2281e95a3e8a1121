#include "collector/timeline/calibration_stalls.h"

#include <algorithm>

namespace utlz {

void CalibrationStalls::Add(const RangeBatch& batch) {
  if (batch.ranges().empty() || batch.setup_ns() == 0 || sessions_.size() >= kMaxSessions) return;
  Session session = {.set_up_ns = 0, .first_ns = UINT64_MAX, .last_ns = 0};
  for (const RangeBatch::Range& range : batch.ranges()) {
    session.first_ns = std::min<uint64_t>(session.first_ns, range.start_ns());
    session.last_ns = std::max<uint64_t>(session.last_ns, range.end_ns());
  }
  session.set_up_ns = session.first_ns - std::min<uint64_t>(session.first_ns, batch.setup_ns());
  sessions_.push_back(session);
}

bool CalibrationStalls::Holds(const LongGap& gap) const {
  if (gap.category != TimeCategory::kOtherGap && gap.category != TimeCategory::kReadbackGap) {
    return false;
  }
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const Session& session) {
    const bool before = gap.end_ns > session.set_up_ns && gap.end_ns <= session.first_ns;
    const bool after =
        gap.start_ns >= session.last_ns && gap.start_ns - session.last_ns < kGiveBackNs;
    return before || after;
  });
}

}  // namespace utlz
