// How busy a planned run's GPUs are: what a report should find.
#ifndef UTLZ_BENCH_DIAGNOSIS_BUSY_TIME_H_
#define UTLZ_BENCH_DIAGNOSIS_BUSY_TIME_H_

#include "bench/diagnosis/planned_run.h"

namespace utlz {

// The share of the time from the first step to the end in which a kernel or a copy runs, as a mean
// over the GPUs.
double BusyShare(const PlannedRun& run);

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_BUSY_TIME_H_
