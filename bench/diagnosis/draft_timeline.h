// Lays the steps of a draft out in time: launches and copies, by rank and stream.
#ifndef UTLZ_BENCH_DIAGNOSIS_DRAFT_TIMELINE_H_
#define UTLZ_BENCH_DIAGNOSIS_DRAFT_TIMELINE_H_

#include <cstdint>

#include "bench/diagnosis/drafts.h"

namespace utlz {

// Time of a step's items, and of the turnarounds between them.
double StepNs(const Draft& draft, const Step& step);

// The run with its launches and copies in time. Durations differ by 1 % from launch to launch.
PlannedRun Planned(Draft draft, uint32_t seed);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_DRAFT_TIMELINE_H_
