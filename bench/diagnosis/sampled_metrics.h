// What generated recordings count of a launch, as a sampler's metric set names it.
#ifndef UTLZ_BENCH_DIAGNOSIS_SAMPLED_METRICS_H_
#define UTLZ_BENCH_DIAGNOSIS_SAMPLED_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/diagnosis/recorded_load.h"
#include "proto/profile.pb.h"

namespace utlz {

struct SampledMetric {
  const char* name;
  MetricRole role;
  const char* unit;
  double resolution;
  double peak_per_multiprocessor;  // per cycle; 0: no such peak
};

inline constexpr std::array<SampledMetric, 6> kSampledMetrics = {{
    {"dram__bytes_read.sum", METRIC_DRAM_READ_BYTES, "byte", 32, 0},
    {"dram__bytes_write.sum", METRIC_DRAM_WRITE_BYTES, "byte", 32, 0},
    {"gpc__cycles_elapsed.max", METRIC_SM_CYCLES_ELAPSED, "cycle", 1, 0},
    {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.sum", METRIC_TENSOR_ACTIVE, "cycle",
     16, 4},
    {"TPC.TriageCompute.sm__cycles_active.sum", METRIC_SM_CYCLES_ACTIVE, "cycle", 16, 1},
    {"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum", METRIC_FMA_INSTRUCTIONS,
     "instruction", 16, 4},
}};
// Places in it.
inline constexpr size_t kElapsedCycles = 2;
inline constexpr size_t kActiveCycles = 4;

// One value of each metric.
using MetricValues = std::array<double, kSampledMetrics.size()>;

// Of a launch; elapsed cycles, which are no launch's, are 0.
MetricValues ValuesOf(const LaunchWork& work);

void AddSampledMetrics(uint32_t multiprocessors, MetricSet* set);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_SAMPLED_METRICS_H_
