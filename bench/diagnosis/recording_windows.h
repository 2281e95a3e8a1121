// When a planned run is traced and sampled: as the default budget of 1 % gives it, after the shape
// that recordings on an H200 show (dense at first, then a window a second).
#ifndef UTLZ_BENCH_DIAGNOSIS_RECORDING_WINDOWS_H_
#define UTLZ_BENCH_DIAGNOSIS_RECORDING_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "bench/diagnosis/planned_run.h"

namespace utlz {

inline constexpr uint64_t kSampleIntervalNs = 10'000;

struct RecordingWindow {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

struct RecordingWindows {
  std::vector<RecordingWindow> traced;   // apart, in order
  std::vector<RecordingWindow> sampled;  // each a multiple of kSampleIntervalNs, inside traced ones
};

RecordingWindows WindowsOf(const PlannedRank& rank, uint64_t end_ns);
RecordingWindows WholeRun(uint64_t end_ns);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_RECORDING_WINDOWS_H_
