// When the next sampling burst begins, where collectors plan it: at a time that they name, or by
// itself where nobody does for long. Times are monotonic nanoseconds. Not thread-safe.
//
//   Clear ──▶ nothing planned ──BeginAlone──▶ by itself ──PlanAt──▶ planned ──Begin──▶ under way
#ifndef UTLZ_COLLECTOR_SAMPLER_WINDOW_PLAN_H_
#define UTLZ_COLLECTOR_SAMPLER_WINDOW_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace utlz {

class WindowPlan {
 public:
  // The processes that are sampled trace for about as long as a planned window lasts.
  static constexpr uint64_t kLatestBeginNs = 5'000'000;
  // A window that begins so soon may be under way already for those who trace in it.
  static constexpr uint64_t kSettledNs = 100'000'000;
  // Agents that trace in a window must hear of it as long before.
  static constexpr uint64_t kNoticeNs = 45'000'000;
  // One that nobody planned begins this long after it could have.
  static constexpr uint64_t kUnplannedNs = 2'500'000'000;

  // Nothing is planned, and the next window is prepared.
  void Clear() { *this = WindowPlan(); }
  // The last window ended early, and the next is not prepared yet.
  void Cut() { is_cut_ = true; }
  // One that could begin at `ready_ns` begins by itself if nobody plans it.
  void BeginAlone(uint64_t ready_ns) { alone_ns_ = ready_ns + kUnplannedNs; }
  // Begins at `begin_ns`, or when somebody else asked for it if that is later and time enough is
  // left to tell everybody. Returns when.
  uint64_t PlanAt(uint64_t now_ns, uint64_t begin_ns) {
    if (!planned_ns_) {
      planned_ns_ = begin_ns;
    } else if (*planned_ns_ > now_ns + kNoticeNs) {
      planned_ns_ = std::max(*planned_ns_, begin_ns);
    }
    return *planned_ns_;
  }
  // The window begins.
  void Begin() { planned_ns_.reset(); }

  std::optional<uint64_t> planned_ns() const { return planned_ns_; }
  bool Settled(uint64_t now_ns) const { return planned_ns_ && *planned_ns_ < now_ns + kSettledNs; }
  // Whether the next window must be prepared anew: nobody would trace in the one that was planned.
  bool Missed(uint64_t now_ns) const {
    return is_cut_ || (planned_ns_ && now_ns > *planned_ns_ + kLatestBeginNs);
  }
  // When something is due; none: after a command only.
  std::optional<uint64_t> due_ns() const {
    if (is_cut_) return 0;
    return planned_ns_ ? planned_ns_ : alone_ns_;
  }

 private:
  std::optional<uint64_t> planned_ns_;
  std::optional<uint64_t> alone_ns_;
  bool is_cut_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_WINDOW_PLAN_H_
