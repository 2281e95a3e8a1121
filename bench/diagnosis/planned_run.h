// A run that never was, planned launch by launch: what RunWriter writes down as if utlz had
// recorded it. Times are nanoseconds since the run's start.
#ifndef UTLZ_BENCH_DIAGNOSIS_PLANNED_RUN_H_
#define UTLZ_BENCH_DIAGNOSIS_PLANNED_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/diagnosis/recorded_load.h"

namespace utlz {

// When planned runs begin, on the clock of records. Times of a plan count from here.
inline constexpr uint64_t kPlannedRunStartNs = 1'700'000'000'000'000'000;

struct PlannedLaunch {
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;
  uint32_t kernel = 0;  // index into PlannedRun::kernels
  uint32_t stream = 7;
  uint32_t graph = 0;  // launch of a graph that it belongs to, from 1; 0: none
  uint32_t context = 1;
  double work_share = 1;  // of the kernel's work
};

struct PlannedCopy {
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;
  uint64_t bytes = 0;
  CopyKind kind = COPY_UNKNOWN;
  bool pageable = false;
  uint32_t stream = 7;
  uint32_t context = 1;
};

// One process, on a GPU of its own unless all share the first one's.
struct PlannedRank {
  std::vector<PlannedLaunch> launches;  // by start
  std::vector<PlannedCopy> copies;      // by start
  double clock_share = 1;               // of the highest
  uint64_t clock_limit_reasons = 0;     // NVML's bits while it works
  double memory_bytes = 20e9;
  double memory_growth_bytes = 0;  // from the first to the last launch, evenly
};

struct PlannedRun {
  Device device;
  DevicePeaks peaks;
  std::vector<RecordedKernel> kernels;
  bool graphs = false;         // kernels are nodes of graphs
  WorkloadSpec workload_spec;  // as given on the command line
  bool one_gpu = false;        // all processes, which are no ranks then, use the same one
  bool one_process = false;    // instead of ranks, GPUs of one process
  std::vector<PlannedRank> ranks;
  uint64_t steps_start_ns = 0;  // of the first step
  uint64_t end_ns = 0;          // of the last launch or copy
};

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_PLANNED_RUN_H_
