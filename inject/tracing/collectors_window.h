// The window that a collector asks for in the ring, which may hold anything.
#ifndef UTLZ_INJECT_TRACING_COLLECTORS_WINDOW_H_
#define UTLZ_INJECT_TRACING_COLLECTORS_WINDOW_H_

#include <cstdint>

#include "inject/tracing/trace_budget.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

// On the clock of `now_ns`, of which `realtime_ns` is CLOCK_REALTIME; none where the words are not
// whole, where it is over, or longer than any window is.
inline PlannedWindow CollectorsWindow(const RingControl& control, uint64_t realtime_ns,
                                      uint64_t now_ns) {
  const uint64_t end_ns = control.window_end_ns.load(std::memory_order_acquire);
  const uint64_t begin_ns = control.window_begin_ns.load(std::memory_order_acquire);
  if (control.window_end_ns.load(std::memory_order_relaxed) != end_ns || begin_ns >= end_ns ||
      end_ns - begin_ns > kLongestPlannedWindowNs || end_ns <= realtime_ns) {
    return {};
  }
  const uint64_t begun_ns = realtime_ns > begin_ns ? realtime_ns - begin_ns : 0;
  const uint64_t until_begin_ns = begin_ns > realtime_ns ? begin_ns - realtime_ns : 0;
  return {now_ns - begun_ns + until_begin_ns, now_ns + (end_ns - realtime_ns)};
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_COLLECTORS_WINDOW_H_
