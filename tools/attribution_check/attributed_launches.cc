#include "tools/attribution_check/attributed_launches.h"

#include <algorithm>
#include <array>
#include <limits>

#include "collector/attribution/engine.h"

namespace utlz {
namespace {

// Bounds that no GPU of today reaches: 20 TB/s of DRAM, 5 GHz.
constexpr double kMostBytesPerNs = 20'000;
constexpr double kMostCyclesPerNs = 5;

attribution::Options EngineOptions() {
  attribution::Options options;
  options.counters = {{"dram read bytes", "dram_read", kMostBytesPerNs, true},
                      {"dram write bytes", "dram_write", kMostBytesPerNs, true},
                      {"tensor active cycles", "sm", kMostCyclesPerNs}};
  return options;
}

}  // namespace

AttributedLaunches::AttributedLaunches(const Capture& capture) {
  attribution::Engine engine(EngineOptions());
  for (const CapturedLaunch& launch : capture.launches) {
    const auto kind = IsCopyName(capture.keys[launch.key].name)
                          ? attribution::IntervalKind::kMemcpy
                          : attribution::IntervalKind::kKernel;
    engine.AddInterval(launch.key, kind, launch.start_ns, launch.end_ns);
  }
  int64_t last_ns = 0;
  for (const CapturedSample& sample : capture.samples) {
    const std::array<double, kCounters> values = {sample.dram_read_bytes, sample.dram_write_bytes,
                                                  sample.tensor_active_cycles};
    engine.AddSample(sample.start_ns, sample.end_ns, values);
    last_ns = std::max(last_ns, sample.end_ns);
  }
  constexpr int64_t kPastTheEndNs = 1'000'000;
  engine.AdvanceTo(last_ns + kPastTheEndNs);
  solution_ = engine.Solve();
  for (size_t i = 0; i < solution_.columns.size(); ++i) {
    const uint64_t variant = solution_.columns[i].variant;
    columns_[variant == attribution::kOtherVariants ? std::numeric_limits<size_t>::max()
                                                    : static_cast<size_t>(variant)]
        .push_back(i);
  }
}

const attribution::ColumnEstimate* AttributedLaunches::ColumnOf(
    const CapturedLaunch& launch) const {
  const int64_t duration_ns = launch.end_ns - launch.start_ns;
  for (const size_t key : {launch.key, std::numeric_limits<size_t>::max()}) {
    const auto known = columns_.find(key);
    if (known == columns_.end()) continue;
    for (const size_t index : known->second) {
      const attribution::ColumnEstimate& column = solution_.columns[index];
      if (duration_ns >= column.min_duration_ns && duration_ns < column.max_duration_ns) {
        return &column;
      }
    }
  }
  return nullptr;
}

}  // namespace utlz
