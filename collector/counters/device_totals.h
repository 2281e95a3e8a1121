// What NVML says about one device while the run lasts: power, energy, memory, clocks, utilization,
// and the GPM counters. Kept as integrals, extremes and a series of bounded length.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_DEVICE_TOTALS_H_
#define UTLZ_COLLECTOR_COUNTERS_DEVICE_TOTALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/counters/sm_clock_under_load.h"
#include "collector/timeline/bounded_series.h"
#include "proto/profile.pb.h"

namespace utlz {

// Mean of readings, each standing for the time since the one before.
class TimeWeightedMean {
 public:
  void Add(double value, double seconds);
  std::optional<double> mean() const;
  double sum() const { return sum_; }  // of value × seconds
  double seconds() const { return seconds_; }

 private:
  double sum_ = 0;
  double seconds_ = 0;
};

// For how long something held the clock down.
struct ClockLimitTime {
  const char* reason;  // as NVML names it, a constant
  double seconds;
};

class DeviceTotals {
 public:
  // False where the columns do not agree; then nothing was taken.
  bool Add(const DeviceTotalsBatch& batch);

  std::optional<double> busy_share() const { return busy_.mean(); }
  std::optional<double> power_watts() const { return power_.mean(); }
  std::optional<double> energy_joules() const;
  uint64_t energy_time_ns() const { return energy_time_ns_; }  // when that was read; 0: never
  // While the device worked; of a device at rest the mean.
  std::optional<double> sm_clock_hz() const;
  std::optional<double> sm_clock_error_hz() const { return sm_clock_under_load_.error_hz(); }
  std::optional<double> gpm_sm_active_share() const { return gpm_sm_.mean(); }
  std::optional<double> gpm_tensor_active_share() const { return gpm_tensor_.mean(); }
  std::optional<double> gpm_dram_active_share() const { return gpm_dram_.mean(); }
  const TimeWeightedMean& busy() const { return busy_; }
  const TimeWeightedMean& gpm_sm_active() const { return gpm_sm_; }
  const TimeWeightedMean& gpm_tensor_active() const { return gpm_tensor_; }
  const TimeWeightedMean& gpm_dram_active() const { return gpm_dram_; }
  // The newest readings.
  std::optional<double> temperature() const { return temperature_; }
  std::optional<double> memory_used() const { return memory_used_; }
  std::optional<double> temperature_max() const { return temperature_max_; }
  std::optional<double> memory_used_max() const { return memory_used_max_; }
  // Reasons that held clocks down while the device worked, as NVML names them.
  std::vector<std::string> ClockLimits() const;
  // Those that ever did, for however short a time.
  std::vector<ClockLimitTime> ClockLimitTimes() const;

  const BoundedSeries& busy_series() const { return busy_series_; }
  const BoundedSeries& power_series() const { return power_series_; }
  // Mean power over a stretch: of the energy counter where the device has one, else of the power
  // readings. Nothing where none was read in it.
  std::optional<double> PowerBetween(uint64_t start_ns, uint64_t end_ns) const;
  uint64_t readings() const { return readings_; }
  const BoundedSeries& memory_series() const { return memory_series_; }
  const BoundedSeries& sm_active_series() const { return sm_active_series_; }
  const BoundedSeries& tensor_active_series() const { return tensor_active_series_; }
  const BoundedSeries& dram_active_series() const { return dram_active_series_; }
  const BoundedSeries& clock_series() const { return clock_series_; }

 private:
  void AddReading(const DeviceTotalsBatch& batch, int index);
  void AddSmClockUnderLoad(const DeviceTotalsBatch& batch, int index, uint64_t before_ns);
  void AddEnergy(double millijoules, uint64_t time_ns);

  TimeWeightedMean busy_, power_, clock_, gpm_sm_, gpm_tensor_, gpm_dram_;
  BoundedSeries busy_series_, power_series_, energy_rate_series_, memory_series_, sm_active_series_,
      tensor_active_series_, dram_active_series_, clock_series_;
  SmClockUnderLoad sm_clock_under_load_;
  std::optional<double> first_energy_;
  std::optional<double> last_energy_;
  std::optional<double> temperature_;
  std::optional<double> memory_used_;
  std::optional<double> temperature_max_;
  std::optional<double> memory_used_max_;
  uint64_t last_time_ns_ = 0;
  uint64_t energy_time_ns_ = 0;  // of last_energy_
  uint64_t readings_ = 0;
  double limited_seconds_[64] = {};
  double seconds_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_DEVICE_TOTALS_H_
