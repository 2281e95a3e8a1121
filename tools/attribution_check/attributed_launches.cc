#include "tools/attribution_check/attributed_launches.h"

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

// As a run would bring them: launches up to a time, then the samples before it. Times beyond any
// clock's are for the engine to refuse.
void Feed(const Capture& capture, attribution::Engine* engine) {
  constexpr size_t kBatch = 16'384;
  size_t next = 0;
  const auto add_launches = [&](int64_t before_ns) {
    for (; next < capture.launches.size() && capture.launches[next].start_ns < before_ns; ++next) {
      const CapturedLaunch& launch = capture.launches[next];
      const auto kind = IsCopyName(capture.keys[launch.key].name)
                            ? attribution::IntervalKind::kMemcpy
                            : attribution::IntervalKind::kKernel;
      engine->AddInterval(launch.key, kind, launch.start_ns, launch.end_ns);
    }
  };
  for (size_t i = 0; i < capture.samples.size(); ++i) {
    const CapturedSample& sample = capture.samples[i];
    const std::array<double, AttributedLaunches::kCounters> values = {
        sample.dram_read_bytes, sample.dram_write_bytes, sample.tensor_active_cycles};
    engine->AddSample(sample.start_ns, sample.end_ns, values);
    if (i % kBatch + 1 != kBatch) continue;
    add_launches(sample.start_ns);
    engine->AdvanceTo(sample.start_ns);
  }
  add_launches(std::numeric_limits<int64_t>::max());
  engine->AdvanceTo(std::numeric_limits<int64_t>::max());
}

}  // namespace

AttributedLaunches::AttributedLaunches(const Capture& capture) {
  attribution::Engine engine(EngineOptions());
  Feed(capture, &engine);
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
