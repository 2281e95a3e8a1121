// Before whose launches a device stood idle, and after whose: by the stacks of the work on the two
// sides of each gap. What was not traced ends a gap without being idle time. Copies and memory sets
// have no stack: a gap before them is charged to the kernel that follows.
//
// Bounded: gaps beyond kMostPairs have no owner, and long gaps beyond kMostLong are not listed
// singly. Takes no memory where no launch has a stack. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_
#define UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

class IdleByStack {
 public:
  static constexpr size_t kMostPairs = 1u << 16;
  static constexpr size_t kMostLong = 65536;
  // Longer gaps may be pauses of the program, or lie outside of its steps.
  static constexpr uint64_t kLongNs = 1'000'000;

  struct LongGap {
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
    uint32_t before = 0;  // stacks; 0: not known
    uint32_t after = 0;
  };

  // In order of start.
  void Add(const Activity& activity) {
    if (any_stack_ || activity.stack != 0) return AddWithStacks(activity);
    // Most runs have no stacks, and each of their activities comes here.
    if (activity.end_ns > busy_until_ns_) busy_until_ns_ = activity.end_ns;
  }

  const std::vector<LongGap>& long_gaps() const { return long_gaps_; }
  // Calls callback(before, after, idle_ns) for the sum of all shorter gaps between two stacks.
  template <typename Callback>
  void ForEachShort(Callback callback) const {
    for (const auto& entry : short_ns_) {
      callback(static_cast<uint32_t>(entry.first >> 32), static_cast<uint32_t>(entry.first),
               entry.second);
    }
    for (const LongGap& gap : waiting_)
      callback(gap.before, uint32_t{0}, gap.end_ns - gap.start_ns);
  }

 private:
  // Copies and sets between two kernels; gaps before more of them have no owner.
  static constexpr size_t kMostWaiting = 64;

  void AddWithStacks(const Activity& activity);
  void Charge(const LongGap& gap, uint32_t after);
  void ChargeWaiting(uint32_t after);

  bool any_stack_ = false;
  uint64_t busy_until_ns_ = 0;
  uint32_t last_stack_ = 0;                          // of what ended last
  std::unordered_map<uint64_t, uint64_t> short_ns_;  // key: before in the upper half, after
  std::vector<LongGap> long_gaps_;
  std::vector<LongGap> waiting_;  // before copies and sets, for the kernel that follows
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_IDLE_BY_STACK_H_
