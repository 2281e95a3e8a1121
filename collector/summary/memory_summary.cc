#include "collector/summary/memory_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace utlz {
namespace {

// A growth is accepted when it goes on: of this many equal parts of the time after the warm-up,
// nearly each holds more than the one before, and none less.
constexpr size_t kParts = 8;
constexpr size_t kFewestRises = 5;
constexpr size_t kFewestReadings = 2 * kParts;
// And when it comes to something: allocators keep reserves, and other processes come and go.
constexpr double kWorthNamingBytes = 64e6;
constexpr double kSecondsWithoutSteps = 60;
// Without steps, what comes before is start-up.
constexpr double kStartUpShare = 0.5;

struct Reading {
  double seconds;
  double bytes;
};

std::vector<Reading> ReadingsBetween(const BoundedSeries& series, uint64_t start_ns,
                                     uint64_t end_ns) {
  std::vector<Reading> readings;
  const std::vector<double> values = series.Values();
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t time_ns = series.start_ns() + i * series.interval_ns();
    if (time_ns < start_ns || time_ns >= end_ns || !std::isfinite(values[i])) continue;
    readings.push_back({static_cast<double>(time_ns - series.start_ns()) * 1e-9, values[i]});
  }
  return readings;
}

// By least squares, against the first reading: memory that stays the same grows by nothing at all.
std::optional<double> SlopePerSecond(std::vector<Reading> readings) {
  if (readings.empty()) return std::nullopt;
  const double bytes = readings.front().bytes;
  for (Reading& reading : readings) reading.bytes -= bytes;
  const auto count = static_cast<double>(readings.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const Reading& reading : readings) {
    mean_x += reading.seconds / count;
    mean_y += reading.bytes / count;
  }
  double covariance = 0;
  double variance = 0;
  for (const Reading& reading : readings) {
    covariance += (reading.seconds - mean_x) * (reading.bytes - mean_y);
    variance += (reading.seconds - mean_x) * (reading.seconds - mean_x);
  }
  if (variance <= 0) return std::nullopt;
  return covariance / variance;
}

bool GoesOnRising(const std::vector<Reading>& readings) {
  std::array<double, kParts> means{};
  for (size_t part = 0; part < kParts; ++part) {
    const size_t begin = part * readings.size() / kParts;
    const size_t end = (part + 1) * readings.size() / kParts;
    if (begin == end) return false;
    for (size_t i = begin; i < end; ++i) {
      means[part] += readings[i].bytes / static_cast<double>(end - begin);
    }
  }
  size_t rises = 0;
  for (size_t part = 1; part < kParts; ++part) {
    if (means[part] < means[part - 1]) return false;
    rises += means[part] > means[part - 1] ? 1 : 0;
  }
  return rises >= kFewestRises;
}

// From the end of the warm-up to the end of the last step: later the program gives back what it
// had.
std::vector<Reading> SteadyReadings(const SteadyPart& steady, const BoundedSeries& series) {
  if (steady.steps.has_value()) {
    return ReadingsBetween(series, steady.steps->start_ns, steady.steps->end_ns);
  }
  const double span_ns = static_cast<double>(series.Values().size() * series.interval_ns());
  const uint64_t start_ns = series.start_ns() + static_cast<uint64_t>(kStartUpShare * span_ns);
  return ReadingsBetween(series, start_ns, UINT64_MAX);
}

void SetGrowth(const SteadyPart& steady, const DeviceTotals& totals, const StepsSummary& steps,
               MemorySummary* memory) {
  if (totals.readings() < kFewestReadings) return;
  const std::vector<Reading> readings = SteadyReadings(steady, totals.memory_series());
  const auto slope = SlopePerSecond(readings);
  if (readings.size() < kParts || !slope.has_value()) return;
  memory->set_growth_bytes_per_second(*slope);
  // Memory grows over time with all that is in it.
  const double step_seconds = (steps.time_mean_ns() + steps.pause_time_ns()) * 1e-9;
  if (step_seconds > 0) memory->set_growth_bytes_per_step(*slope * step_seconds);
  const double growth = *slope * (readings.back().seconds - readings.front().seconds);
  // Without steps it may be a start that takes long.
  const double span_s = readings.back().seconds - readings.front().seconds;
  const bool has_begun = steady.steps.has_value() || span_s >= kSecondsWithoutSteps;
  const bool leak = has_begun && GoesOnRising(readings) && growth >= kWorthNamingBytes;
  memory->set_leak_suspected(leak);
  if (leak && memory->growth_bytes_per_step() > 0) {
    memory->set_steps_to_full(memory->headroom_bytes() / memory->growth_bytes_per_step());
  }
}

// What is in use says more than what is reserved, of which an allocator gives nothing back.
void SetPools(const SteadyPart& steady, const PoolMemoryTotals& pools, MemorySummary* memory) {
  if (!pools.used_max().has_value()) return;
  memory->set_pool_used_bytes_max(*pools.used_max());
  memory->set_pool_reserved_bytes_max(*pools.reserved_max());
  const std::vector<Reading> readings = SteadyReadings(steady, pools.used_series());
  if (readings.size() < kParts) return;
  if (const auto slope = SlopePerSecond(readings)) {
    memory->set_pool_used_growth_bytes_per_second(*slope);
  }
}

}  // namespace

// The device whose memory is fullest speaks for the run.
void SummarizeMemory(const RunState& state, const Analysis& analysis, Summary* summary) {
  double fullest = -1;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const DeviceState& device = state.devices[i];
    const auto reserved = device.totals.memory_used_max();
    const auto used = reserved.has_value() ? reserved : device.pools.used_max();
    const uint64_t whole =
        device.peaks.has_value() ? device.peaks->memory_bytes() : device.info.memory_bytes();
    if (!device.used || !used.has_value() || whole == 0) continue;
    const double whole_bytes = static_cast<double>(whole);
    if (*used / whole_bytes <= fullest) continue;
    fullest = *used / whole_bytes;
    MemorySummary memory;
    memory.set_total_bytes(whole_bytes);
    if (reserved.has_value()) {
      memory.set_used_bytes_max(*reserved);
      memory.set_headroom_bytes(std::max(0.0, whole_bytes - *reserved));
      memory.set_source(
          "NVML: reserved on the device by the job's allocators and by others; a framework may use "
          "less of it");
      SetGrowth(analysis.steady, device.totals, summary->steps(), &memory);
    }
    SetPools(analysis.steady, device.pools, &memory);
    *summary->mutable_memory() = std::move(memory);
  }
}

}  // namespace utlz
