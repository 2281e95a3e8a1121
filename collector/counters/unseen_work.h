// Work at the beginning of a trace window that nobody recorded. A window records what the process
// launches in it; what it had launched before still runs for a while. How far programs launch ahead
// of their GPU is known from what runs after a window's end (UntracedWork), but not where they
// replay graphs: CUPTI stops recording those when the window ends. Counters see it, though: the
// multiprocessors are active, and no kernel has a record.
#ifndef UTLZ_COLLECTOR_COUNTERS_UNSEEN_WORK_H_
#define UTLZ_COLLECTOR_COUNTERS_UNSEEN_WORK_H_

#include <cstdint>
#include <span>
#include <utility>

#include "collector/counters/attribution_feed.h"
#include "collector/timeline/activity.h"

namespace utlz {

// `untraced` is the time between two windows. Returns until when such work ran after it, or the end
// of `untraced` where samples show none, and where another process ran something too.
// `after`: activities of the device in order of their starts, from `untraced` on. `busiest` is the
// context and the stream in which the process spends most of its kernels' time: another stream may
// run what is launched in the window while that one still runs what was launched before.
uint64_t EndOfUnseenWork(const Activity& untraced, std::span<const Activity> after,
                         std::pair<uint32_t, uint32_t> busiest, const AttributionFeed& attribution);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_UNSEEN_WORK_H_
