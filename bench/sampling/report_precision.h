// How well a report knows the kernels of a simulated run, if the run ended now.
#ifndef UTLZ_BENCH_SAMPLING_REPORT_PRECISION_H_
#define UTLZ_BENCH_SAMPLING_REPORT_PRECISION_H_

#include <optional>

#include "bench/sampling/start_up_load.h"
#include "collector/run/run_intake.h"

namespace utlz {

// Of the kernels with at least 1 % of the steps' time, the widest: half-widths of the stated 95 %
// intervals ÷ the value; 1 where one has none. Bytes of those that move 2 % of what DRAM can,
// tensor FLOPs of those that keep the tensor pipe active for a tenth of their time.
struct ReportPrecision {
  bool any_bytes = false;
  double bytes = 0;
  double tensor_flops = 0;
  double measured_flops = 0;  // what more samples make smaller of it
  double known_share = 0;     // of the steps' kernel time, of kernels with bytes
  double bytes_error = 0;     // the largest against what the load did
  // Of the time of the kernels that matter for one of the two, those within ± 10 % of bytes, and
  // within ± 5 % of tensor FLOPs as measured.
  double bytes_share = 0;
  double flops_share = 0;
};

// Bytes within ± 10 % and tensor FLOPs, as far as they are measured, within ± 5 %; ± 5 % and ± 4 %.
bool IsGood(const ReportPrecision& precision);
bool IsBetter(const ReportPrecision& precision);

// The model goes on as if nobody had asked: a copy of this process, which has one thread, ends the
// run. Nothing where that failed.
std::optional<ReportPrecision> PrecisionIfItEndedNow(RunIntake* intake, const StartUpLoad& load);

}  // namespace utlz

#endif  // UTLZ_BENCH_SAMPLING_REPORT_PRECISION_H_
