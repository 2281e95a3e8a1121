// All that is known of one device. What happens on it comes in by OnActivity, OnSegment, OnCopy and
// OnSample, which alone decide who accounts for what. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_DEVICE_STATE_H_
#define UTLZ_COLLECTOR_RUN_DEVICE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/counters/attribution_feed.h"
#include "collector/counters/counter_settings.h"
#include "collector/counters/device_totals.h"
#include "collector/counters/pool_memory.h"
#include "collector/counters/sample_totals.h"
#include "collector/decode/copy_decoder.h"
#include "collector/timeline/activity_sorter.h"
#include "collector/timeline/activity_totals.h"
#include "collector/timeline/answered_waits.h"
#include "collector/timeline/calibration_stalls.h"
#include "collector/timeline/concurrency_tracker.h"
#include "collector/timeline/copy_statistics.h"
#include "collector/timeline/exposed_communication.h"
#include "collector/timeline/gap_sites.h"
#include "collector/timeline/graph_launches.h"
#include "collector/timeline/graph_waits.h"
#include "collector/timeline/idle_by_stack.h"
#include "collector/timeline/kernel_returns.h"
#include "collector/timeline/kernel_series.h"
#include "collector/timeline/process_overlap.h"
#include "collector/timeline/process_timelines.h"
#include "collector/timeline/shared_time.h"
#include "collector/timeline/step_finder.h"
#include "collector/timeline/step_starts.h"
#include "proto/profile.pb.h"

namespace utlz {

struct DeviceState {
  // One launch or copy on the device; in order of their starts, as `queue` releases them.
  void OnActivity(const Activity& activity);
  // A stretch in which the same kinds of work ran, as `sweep` finds it.
  void OnSegment(const ActivitySegment& segment);
  // A copy of a process, as it was recorded.
  void OnCopy(const Copy& copy, uint32_t source);
  // A sample with counts that are possible. `row` is in the order of counters.roles().
  void OnSample(const CounterSet& counters, uint32_t metric_set, uint64_t start_ns, uint64_t end_ns,
                const std::vector<double>& row);

  // What processes, sampler and `utlz calibrate` say of it.
  std::string uuid;  // 16 bytes; empty for the device of contexts whose device is not known
  Device info;       // as a process sees it; its ordinal means nothing here
  std::optional<DevicePeaks> peaks;
  std::optional<SamplerStatus> status;
  std::optional<DeviceCeilings> measured;     // by `utlz calibrate`
  bool used = false;                          // by some process of the run
  std::optional<uint32_t> compute_processes;  // as NVML last counted them; taken once
  uint32_t last_other_processes = 0;          // of these, then, beyond those of the run
  uint32_t other_processes = 0;               // the most, twice in a row
  bool mps = false;  // some process of the run is, or may be, a client of MPS

  // Fed in order of starts.
  ActivitySorter queue;  // what is still to be put in order
  uint64_t released_until_ns = 0;
  ConcurrencyTracker sweep;
  GapSites gap_sites;
  GraphWaits graph_waits;
  IdleByStack idle_by_stack;
  ActivityTotals ledger;  // also fed by `sweep`, as are the next three
  AnsweredWaits answered_waits;
  ExposedCommunication exposed;
  BoundedSeries busy_series;
  ProcessOverlap overlap;
  SharedTime shared_time;
  StepFinder steps;
  ProcessTimelines process_timelines;
  KernelReturns returns;
  StepStarts named_steps;  // by StepKernel
  KernelSeries kernel_series;

  // Fed as frames come.
  GraphLaunches graphs;
  CopyStatistics copies;
  CalibrationStalls calibration_stalls;
  PoolMemoryTotals pools;

  // Counters, and who is accountable for them.
  DeviceTotals totals;
  SampleTotals samples;
  CounterSettings counter_settings;
  AttributionFeed attribution;      // also fed in order of starts
  uint64_t attribution_cpu_ns = 0;  // that feeding it took, where that is measured
  uint64_t sample_interval_ns = 0;  // of the first metric set
  std::map<uint32_t, MetricSet> metric_sets;
};

// For how long the device's counters were sampled: by the samples that came, or by the sampler's
// own account, which also knows of samples that were lost.
inline uint64_t SampledNs(const DeviceState& device) {
  const uint64_t reported_ns = device.status.has_value() ? device.status->sampling_ns() : 0;
  return std::max<uint64_t>(device.samples.sampled_ns(), reported_ns);
}

// 90 for 9.0, as code for GPUs names it.
inline uint32_t ComputeCapabilityOf(const DeviceState& device) {
  return 10 * device.info.compute_capability_major() + device.info.compute_capability_minor();
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_DEVICE_STATE_H_
