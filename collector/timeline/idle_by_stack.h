// Before whose launches a device stood idle, and after whose: by the stacks of the work on the two
// sides of each gap, and with the times of gaps, since some stretches of a run stand for more of it
// than others. What was not traced ends a gap without being idle time. Copies and memory sets have
// no stack: a gap before them is charged to the kernel that follows.
//
// Bounded: short gaps between the same two stacks are joined where there is no room for each, those
// of a slice of time in one. Then gaps beyond kMostPairs have no owner. Long gaps beyond kMostLong
// are joined as short ones are. Takes no memory where no launch has a stack. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_
#define UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

// A gap, or several of one slice of time.
struct StackGap {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t idle_ns = 0;
  uint32_t before = 0;  // stacks; 0: not known
  uint32_t after = 0;
  uint16_t source = 0;  // process of what follows; of several gaps, of one of them

  bool IsOne() const { return idle_ns == end_ns - start_ns; }
};

class IdleByStack {
 public:
  static constexpr size_t kMostPairs = 1u << 15;
  static constexpr size_t kMostLong = 65536;
  static constexpr size_t kMostShort = 1u << 18;
  // Longer gaps may be pauses of the program, or lie outside of its steps.
  static constexpr uint64_t kLongNs = 1'000'000;

  // In order of start.
  void Add(const Activity& activity) {
    if (any_stack_ || activity.stack != 0) return AddWithStacks(activity);
    // Most runs have no stacks, and each of their activities comes here.
    if (activity.end_ns > busy_until_ns_) busy_until_ns_ = activity.end_ns;
  }

  template <typename Callback>
  void ForEach(Callback callback) const {
    for (const StackGap& gap : long_gaps_) callback(gap);
    for (const StackGap& gap : short_gaps_) callback(gap);
    for (const StackGap& gap : waiting_) callback(gap);
  }

 private:
  // Copies and sets between two kernels; gaps before more of them have no owner.
  static constexpr size_t kMostWaiting = 64;

  void AddWithStacks(const Activity& activity);
  void Charge(StackGap gap, const Activity& next);
  void ChargeWaiting(const Activity& next);
  void MakeRoom();
  void JoinInSlices();
  void LimitPairs();

  bool any_stack_ = false;
  uint64_t busy_until_ns_ = 0;
  uint32_t last_stack_ = 0;  // of what ended last
  std::vector<StackGap> long_gaps_;
  std::vector<StackGap> short_gaps_;
  int slice_bits_ = 20;                 // short gaps are joined in slices of 2^20 ns, or longer
  std::unordered_set<uint64_t> pairs_;  // of those that were; before in the upper half, after
  std::vector<StackGap> waiting_;       // before copies and sets, for the kernel that follows
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_
