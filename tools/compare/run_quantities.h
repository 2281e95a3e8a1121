// What a comparison reads out of one run's summary. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_RUN_QUANTITIES_H_
#define UTLZ_TOOLS_COMPARE_RUN_QUANTITIES_H_

#include <optional>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/estimate.h"

namespace utlz {

// What the numbers of a run are put per: a step, or the run.
struct PerWhat {
  bool step = false;
  double divisor = 1;  // steps that the run held, or 1
};

struct RunQuantity {
  const char* name;
  const char* unit;
  bool more_is_better;
  std::optional<Estimate> (*read)(const Summary& run, const PerWhat& per);
};

// All numbers of a run that a comparison shows, in the order in which it shows them.
const std::vector<RunQuantity>& RunQuantities();

// Most kernels' work is not known: what the device counted meanwhile is not theirs.
bool IsMostlyUncounted(const Summary& run);

// Mean step after warm-up, with the standard error of the mean. Absent without steps.
std::optional<Estimate> StepTime(const Summary& run);
// The median of the same steps, which a few slow ones do not move. A traced step counts as often as
// it stands for others, as in the mean. Absent where steps are not listed: their spread makes the
// error.
std::optional<Estimate> MedianStepTime(const Summary& run);
// One standard error of a step's time as a share of it, or of the run's without steps.
double TimeError(const Summary& run);
std::optional<Estimate> WallTime(const Summary& run, double divisor);
std::optional<Estimate> KernelTime(const Summary& run, const PerWhat& per);
// Of a slice that lies in steps, or of any where times are per run.
double SliceTime(const WaterfallSlice& slice, const PerWhat& per);

// How many steps' worth of kernels the run holds, warm-up and broken steps included, so that its
// totals can be put per step. Absent without steps.
std::optional<double> StepsHeld(const Summary& run);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_RUN_QUANTITIES_H_
