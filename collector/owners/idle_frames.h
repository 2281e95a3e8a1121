// In which Python frames launching threads were while a device stood idle: by the line that the
// device waited for, from samples (utlz run --idle-stacks).
#ifndef UTLZ_COLLECTOR_OWNERS_IDLE_FRAMES_H_
#define UTLZ_COLLECTOR_OWNERS_IDLE_FRAMES_H_

#include <cstdint>
#include <map>

#include "collector/run/stack_table.h"
#include "proto/summary.pb.h"

namespace utlz {

class IdleFrames {
 public:
  static constexpr int kMostFrames = 16;  // of one owner

  // `owner` is the caller's number of what the device waited for; `stack` what a thread was in.
  void Add(int owner, uint32_t stack, double idle_ns) { by_owner_[owner][stack] += idle_ns; }

  // Calls write(owner) for a message of each, which is filled in: most time first.
  template <typename Write>
  void ForEach(const StackTable& stacks, Write write) const {
    for (const auto& [owner, by_stack] : by_owner_) Fill(stacks, by_stack, write(owner));
  }

 private:
  using ByStack = std::map<uint32_t, double>;

  static void Fill(const StackTable& stacks, const ByStack& by_stack, OwnerSummary* owner);

  std::map<int, ByStack> by_owner_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_IDLE_FRAMES_H_
