#include "collector/counters/device_totals.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

// A longer silence is a pause of the sampler; a reading does not stand for all of it.
constexpr double kLongestReadingSeconds = 5;
// A limit counts when it held for this share of the time.
constexpr double kWorthNamingShare = 0.05;

struct ClockLimit {
  uint32_t bit;
  const char* name;
};

// nvmlClocksEventReasons of nvml.h, those that hold clocks down under load.
constexpr ClockLimit kClockLimits[] = {
    {1, "application clock setting"}, {2, "power cap"},
    {3, "hardware slowdown"},         {4, "sync boost"},
    {5, "thermal slowdown"},          {6, "hardware thermal slowdown"},
    {7, "hardware power brake"},      {8, "display clock setting"},
};

template <typename Column>
std::optional<double> At(const Column& column, int index) {
  if (column.empty()) return std::nullopt;
  const auto value = static_cast<double>(column.Get(index));
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

template <typename... Columns>
bool AllFit(int expected, const Columns&... columns) {
  return ((columns.empty() || columns.size() == expected) && ...);
}

bool ColumnsAgree(const DeviceTotalsBatch& batch) {
  return AllFit(batch.time_ns_size(), batch.gpu_busy_percent(), batch.memory_used_bytes(),
                batch.power_milliwatts(), batch.energy_millijoules(), batch.sm_clock_mhz(),
                batch.temperature_celsius(), batch.clock_limit_reasons(),
                batch.gpm_sm_active_percent(), batch.gpm_tensor_active_percent(),
                batch.gpm_dram_active_percent());
}

std::optional<double> Larger(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::max(*a, *b);
}

}  // namespace

void TimeWeightedMean::Add(double value, double seconds) {
  sum_ += value * seconds;
  seconds_ += seconds;
}

std::optional<double> TimeWeightedMean::mean() const {
  if (seconds_ <= 0) return std::nullopt;
  return sum_ / seconds_;
}

bool DeviceTotals::Add(const DeviceTotalsBatch& batch) {
  if (!ColumnsAgree(batch)) return false;
  for (int i = 0; i < batch.time_ns_size(); ++i) AddReading(batch, i);
  return true;
}

void DeviceTotals::AddReading(const DeviceTotalsBatch& batch, int index) {
  const uint64_t time_ns = batch.time_ns(index);
  const uint64_t before_ns = last_time_ns_;
  if (time_ns <= before_ns) return;
  last_time_ns_ = time_ns;
  ++readings_;
  if (const auto energy = At(batch.energy_millijoules(), index)) AddEnergy(*energy, time_ns);
  if (const auto temperature = At(batch.temperature_celsius(), index)) temperature_ = temperature;
  if (const auto used = At(batch.memory_used_bytes(), index)) memory_used_ = used;
  temperature_max_ = Larger(temperature_max_, temperature_);
  memory_used_max_ = Larger(memory_used_max_, memory_used_);
  if (before_ns == 0) return;
  const double seconds =
      std::min(kLongestReadingSeconds, static_cast<double>(time_ns - before_ns) * 1e-9);
  const auto take = [&](std::optional<double> value, double unit, TimeWeightedMean* mean,
                        BoundedSeries* series) {
    if (!value.has_value()) return;
    if (mean != nullptr) mean->Add(*value * unit, seconds);
    if (series != nullptr) series->Add(before_ns, time_ns, *value * unit);
  };
  take(At(batch.gpu_busy_percent(), index), 0.01, &busy_, &busy_series_);
  take(At(batch.power_milliwatts(), index), 1e-3, &power_, &power_series_);
  take(At(batch.sm_clock_mhz(), index), 1e6, &clock_, &clock_series_);
  AddSmClockUnderLoad(batch, index, before_ns);
  take(At(batch.memory_used_bytes(), index), 1, nullptr, &memory_series_);
  take(At(batch.gpm_sm_active_percent(), index), 0.01, &gpm_sm_, &sm_active_series_);
  take(At(batch.gpm_tensor_active_percent(), index), 0.01, &gpm_tensor_, &tensor_active_series_);
  take(At(batch.gpm_dram_active_percent(), index), 0.01, &gpm_dram_, &dram_active_series_);
  if (!batch.clock_limit_reasons().empty()) {
    seconds_ += seconds;
    for (uint32_t bit = 0; bit < 64; ++bit) {
      if ((batch.clock_limit_reasons(index) >> bit & 1) != 0) limited_seconds_[bit] += seconds;
    }
  }
}

// By the share of SMs that were active where the device tells, else by whether any kernel ran: at
// rest clocks are low, and a run that starts slowly ran at no other clock for that.
void DeviceTotals::AddSmClockUnderLoad(const DeviceTotalsBatch& batch, int index,
                                       uint64_t before_ns) {
  const auto clock = At(batch.sm_clock_mhz(), index);
  auto active = At(batch.gpm_sm_active_percent(), index);
  if (!active.has_value()) active = At(batch.gpu_busy_percent(), index);
  if (!clock.has_value() || !active.has_value()) return;
  const uint64_t time_ns = batch.time_ns(index);
  const double seconds =
      std::min(kLongestReadingSeconds, static_cast<double>(time_ns - before_ns) * 1e-9);
  sm_clock_under_load_.Add(before_ns, time_ns, *clock * 1e6, *active * seconds);
}

std::optional<double> DeviceTotals::sm_clock_hz() const {
  const std::optional<double> loaded = sm_clock_under_load_.hz();
  return loaded.has_value() ? loaded : clock_.mean();
}

// The counter moves in jumps, so only what lies between two jumps is known of the power.
void DeviceTotals::AddEnergy(double millijoules, uint64_t time_ns) {
  if (!first_energy_.has_value()) first_energy_ = millijoules;
  const bool moved = last_energy_.has_value() && millijoules > *last_energy_;
  if (moved) {
    const double seconds = static_cast<double>(time_ns - energy_time_ns_) * 1e-9;
    energy_rate_series_.Add(energy_time_ns_, time_ns,
                            (millijoules - *last_energy_) * 1e-3 / seconds);
  }
  if (moved || energy_time_ns_ == 0 || millijoules < *last_energy_) {
    last_energy_ = millijoules;
    energy_time_ns_ = time_ns;
  }
}

std::optional<double> DeviceTotals::PowerBetween(uint64_t start_ns, uint64_t end_ns) const {
  const std::optional<double> by_energy = energy_rate_series_.MeanBetween(start_ns, end_ns);
  return by_energy.has_value() ? by_energy : power_series_.MeanBetween(start_ns, end_ns);
}

std::optional<double> DeviceTotals::energy_joules() const {
  if (!first_energy_.has_value() || *last_energy_ < *first_energy_) return std::nullopt;
  return (*last_energy_ - *first_energy_) * 1e-3;
}

std::vector<std::string> DeviceTotals::ClockLimits() const {
  std::vector<std::string> names;
  for (const ClockLimit& limit : kClockLimits) {
    if (limited_seconds_[limit.bit] > kWorthNamingShare * seconds_) names.emplace_back(limit.name);
  }
  return names;
}

std::vector<ClockLimitTime> DeviceTotals::ClockLimitTimes() const {
  std::vector<ClockLimitTime> times;
  for (const ClockLimit& limit : kClockLimits) {
    const double seconds = limited_seconds_[limit.bit];
    if (seconds > 0) times.push_back({.reason = limit.name, .seconds = seconds});
  }
  return times;
}

}  // namespace utlz
