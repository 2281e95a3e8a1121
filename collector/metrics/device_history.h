// What a GPU did in the last seconds, from totals that only grow. Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_DEVICE_HISTORY_H_
#define UTLZ_COLLECTOR_METRICS_DEVICE_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "collector/analysis/roofline.h"
#include "collector/metrics/time_history.h"
#include "collector/metrics/time_ledger.h"
#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"

namespace utlz {

// Value × time, and the time.
struct MeanTotal {
  double sum = 0;
  double time = 0;
};

// Totals of one GPU at one moment.
struct DevicePoint {
  uint64_t time_ns = 0;   // of the run
  uint64_t known_ns = 0;  // up to which kernels are known; 0: no process came yet
  bool in_use = true;     // by a process of the run that lives
  DeviceWork work = {};
  TimeSum time = {};
  MeanTotal sm_active_cycles = {};  // of samples
  MeanTotal sm_elapsed_cycles = {};
  MeanTotal tensor_cycles = {};
  MeanTotal read_bytes = {};
  MeanTotal write_bytes = {};
  MeanTotal gpm_sm_active = {};
  MeanTotal gpm_tensor_active = {};
  MeanTotal gpm_dram_active = {};
  MeanTotal nvml_busy = {};
};

DevicePoint PointOf(const RunState& run_state, uint32_t device, const DeviceWork& work,
                    const TimeSum& time);

// Shares, 0…1; nothing where not known.
struct DeviceRates {
  std::optional<double> hfu;
  std::optional<double> compute_speed_of_light;
  std::optional<double> memory_speed_of_light;
  std::optional<double> sm_active;
  std::optional<double> busy;
  std::optional<double> nvml_busy;
};

class DeviceHistory {
 public:
  static constexpr uint64_t kLengthNs = 15'000'000'000;

  void Add(const DevicePoint& point);
  DeviceRates Rates(const Ceilings& ceilings) const;
  // What its time went to.
  std::optional<TimeSum> TimeGrowth() const { return times_.Growth(); }
  uint64_t known_ns() const { return points_.empty() ? 0 : points_.back().known_ns; }

 private:
  std::deque<DevicePoint> points_;  // one a snapshot, at least one older than kLengthNs
  TimeHistory times_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_DEVICE_HISTORY_H_
