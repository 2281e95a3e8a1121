// What each process did on a device that several of a run work on, as if it were alone there: its
// steps, and what its own kernels and copies add up to. Times are as the device had them, so they
// hold the other processes' turns too.
//
// Nothing is kept until a second process launches a kernel: before that the device's own timeline
// is the process's. Bounded: beyond kMost processes nothing is known of one that comes later, until
// another has launched nothing for kForgottenNs. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_PROCESS_TIMELINES_H_
#define UTLZ_COLLECTOR_TIMELINE_PROCESS_TIMELINES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "collector/timeline/activity.h"
#include "collector/timeline/activity_totals.h"
#include "collector/timeline/concurrency_tracker.h"
#include "collector/timeline/step_finder.h"

namespace utlz {

// Of one process.
class ProcessTimeline {
 public:
  // About 1.5 MiB in all.
  static constexpr size_t kMostPoints = 4096;
  static constexpr size_t kSearchLaunches = 16384;

  ProcessTimeline();
  ProcessTimeline(const ProcessTimeline&) = delete;
  ProcessTimeline& operator=(const ProcessTimeline&) = delete;

  void Add(const Activity& activity);
  // Everything that starts before `time_ns` has been added.
  void AdvanceTo(uint64_t time_ns) { sweep_.AdvanceTo(time_ns); }

  const ActivityTotals& ledger() const { return ledger_; }
  const StepFinder& steps() const { return steps_; }
  uint64_t latest_kernel_ns() const { return latest_kernel_ns_; }

 private:
  ConcurrencyTracker sweep_;
  ActivityTotals ledger_;  // fed by sweep_ too
  StepFinder steps_;
  uint64_t latest_kernel_ns_ = 0;
};

class ProcessTimelines {
 public:
  static constexpr size_t kMost = 8;
  static constexpr uint64_t kForgottenNs = 60'000'000'000;

  // All activities of the device, in order of their starts.
  void Add(const Activity& activity);
  void AdvanceTo(uint64_t time_ns);

  // Null where nothing is kept of it.
  const ProcessTimeline* Of(uint32_t source) const;

 private:
  // Null where there is no room.
  ProcessTimeline* Begin(const Activity& kernel);
  void ForgetOneBefore(uint64_t time_ns);

  std::optional<uint16_t> first_;  // the process that launched the first kernel
  std::map<uint16_t, ProcessTimeline> timelines_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_PROCESS_TIMELINES_H_
