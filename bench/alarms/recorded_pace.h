// How a recorded run went on from second to second, as the collector sees it: what alarms look at,
// cut into pieces. Thread safety: functions only.
#ifndef UTLZ_BENCH_ALARMS_RECORDED_PACE_H_
#define UTLZ_BENCH_ALARMS_RECORDED_PACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

// What was known of one more second, more or less: totals of one GPU.
struct PaceStep {
  double time_ns = 0;  // by which operations were known further
  double kernel_ns = 0;
  double counted_ns = 0;
  double peak_ns = 0;
  double operations = 0;
};

struct RecordedPace {
  std::vector<PaceStep> all;   // while kernels were known to do tensor work, in order
  double snapshot_cpu_ms = 0;  // mean
  double renewal_cpu_ms = 0;   // of finding out what launches are worth, the last
};

// Replays the profile, and takes a snapshot of its metrics each second of it.
absl::StatusOr<RecordedPace> PaceOf(const std::string& profile);

}  // namespace utlz

#endif  // UTLZ_BENCH_ALARMS_RECORDED_PACE_H_
