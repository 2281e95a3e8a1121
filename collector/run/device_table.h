// Devices of the run, joined across processes and the sampler by UUID.
//
// Bounded to kMaxDevices; targets can invent no more. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_
#define UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/counters/attribution_feed.h"
#include "collector/counters/counter_settings.h"
#include "collector/counters/device_totals.h"
#include "collector/counters/pool_memory.h"
#include "collector/counters/sample_totals.h"
#include "collector/timeline/activity_sorter.h"
#include "collector/timeline/activity_totals.h"
#include "collector/timeline/calibration_stalls.h"
#include "collector/timeline/concurrency_tracker.h"
#include "collector/timeline/copy_statistics.h"
#include "collector/timeline/exposed_communication.h"
#include "collector/timeline/gap_sites.h"
#include "collector/timeline/graph_launches.h"
#include "collector/timeline/idle_by_stack.h"
#include "collector/timeline/kernel_returns.h"
#include "collector/timeline/kernel_series.h"
#include "collector/timeline/process_overlap.h"
#include "collector/timeline/step_finder.h"
#include "collector/timeline/step_starts.h"
#include "proto/profile.pb.h"

namespace utlz {

struct DeviceState {
  std::string uuid;  // 16 bytes; empty for the device of contexts whose device is not known
  Device info;       // as a process sees it; its ordinal means nothing here
  std::optional<DevicePeaks> peaks;
  std::optional<SamplerStatus> status;
  std::optional<DeviceCeilings> measured;  // by `utlz calibrate`
  bool used = false;  // by some process of the run
  std::optional<uint32_t> compute_processes;  // as NVML last counted them; taken once
  uint32_t last_other_processes = 0;          // of these, then, beyond those of the run
  uint32_t other_processes = 0;               // the most, twice in a row
  bool mps = false;  // some process of the run is, or may be, a client of MPS

  ActivitySorter queue;
  ConcurrencyTracker sweep;
  ProcessOverlap overlap;
  BoundedSeries busy_series;
  StepFinder steps;
  KernelReturns returns;
  StepStarts named_steps;  // by StepKernel
  GraphLaunches graphs;
  ActivityTotals ledger;
  GapSites gap_sites;
  IdleByStack idle_by_stack;
  CalibrationStalls calibration_stalls;
  ExposedCommunication exposed;
  KernelSeries kernel_series;
  CopyStatistics copies;
  DeviceTotals totals;
  PoolMemoryTotals pools;
  SampleTotals samples;
  CounterSettings counter_settings;
  AttributionFeed attribution;
  uint64_t released_until_ns = 0;
  uint64_t sample_interval_ns = 0;  // of the first metric set
  std::map<uint32_t, MetricSet> metric_sets;
};

class DeviceTable {
 public:
  static constexpr size_t kMaxDevices = 256;

  // Index of the device with these 16 bytes, made where it is new; nothing when there are too many
  // or the UUID has another length (empty is allowed).
  std::optional<uint32_t> Find(std::string_view uuid);

  DeviceState& operator[](uint32_t index) { return *devices_[index]; }
  const DeviceState& operator[](uint32_t index) const { return *devices_[index]; }
  size_t size() const { return devices_.size(); }

 private:
  std::vector<std::unique_ptr<DeviceState>> devices_;
};

// "GPU-00112233-4455-6677-8899-aabbccddeeff", as nvidia-smi writes it; empty for the unknown device.
std::string FormatUuid(std::string_view uuid);
// The 16 bytes of such a text; nothing where it is none.
std::optional<std::string> ParseUuid(std::string_view text);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_DEVICE_TABLE_H_
