// When the work of one process on one GPU was not recorded. A trace window records what the process
// launches in it. Programs launch ahead of their GPU: it begins that work later, by the lead, and
// is busy with it for as much longer after the window's end. What it does at the window's beginning
// was launched before, and is not recorded.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_WINDOWS_UNTRACED_WORK_H_
#define UTLZ_COLLECTOR_WINDOWS_UNTRACED_WORK_H_

#include <cstdint>
#include <optional>

#include "collector/windows/trace_coverage.h"

namespace utlz {

class UntracedWork {
 public:
  // A window opened after `gap`. The gap before must be settled.
  void Begin(const UntracedGap& gap) { gap_ = gap; }
  // A kernel or a copy was recorded, in any order.
  void Add(uint64_t start_ns, uint64_t end_ns) {
    const bool after = gap_.has_value() && start_ns >= gap_->end_ns;
    if (after && start_ns < first_ns_) first_ns_ = start_ns;
    (after ? after_ : before_).Add(start_ns, end_ns);
  }

  const std::optional<UntracedGap>& gap() const { return gap_; }
  // Whether something was recorded in the window after the gap.
  bool has_work_after() const { return first_ns_ != UINT64_MAX; }
  // When the work after a window's end was over that was launched in it.
  uint64_t EndOfWork(uint64_t window_end_ns) const { return before_.EndBeyond(window_end_ns); }
  // Ends the gap: for how long work was not recorded. Nothing where it was all the time.
  std::optional<UntracedGap> Settle();

 private:
  // Work as it was recorded, up to its latest end.
  class Work {
   public:
    void Add(uint64_t start_ns, uint64_t end_ns);
    // When work was over that went on at `time_ns` without a pause after it; else that time.
    uint64_t EndBeyond(uint64_t time_ns) const;

   private:
    uint64_t until_ns_ = 0;
    uint64_t until_pause_ns_ = 0;  // when the latest pause began
    uint64_t pause_end_ns_ = 0;    // and when it ended; 0 without one
  };

  std::optional<UntracedGap> gap_;
  Work before_;
  Work after_;
  uint64_t first_ns_ = UINT64_MAX;  // of what was recorded after the gap
  uint64_t longest_lead_ns_ = 0;    // of the windows before; old ones count for less
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WINDOWS_UNTRACED_WORK_H_
