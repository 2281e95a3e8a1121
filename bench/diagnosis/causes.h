// The causes of lost time that are planted into healthy loads, one a load, each with the threshold
// from which a report has to speak of it.
#ifndef UTLZ_BENCH_DIAGNOSIS_CAUSES_H_
#define UTLZ_BENCH_DIAGNOSIS_CAUSES_H_

#include <cstdint>
#include <vector>

#include "bench/diagnosis/drafts.h"

namespace utlz {

struct Cause {
  const char* name;
  const char* base;  // the healthy load (HealthyDraft)
  double threshold;  // a share of the steps' time, or bytes
  const char* of;    // what `threshold` is a share of, or its unit
  const char* from;  // where the threshold comes from
  // `amount`: strength × threshold; 0 leaves the draft as it is. A share is one of the planted
  // load's time, so that the time is lost ÷ (healthy + lost).
  void (*plant)(double amount, Draft* draft);
  bool needs_decoder = false;  // kernels of a recorded decoder are planted
};

const std::vector<Cause>& Causes();

// Loads without a cause: "training", … as HealthyDraft names them.
const std::vector<const char*>& HealthyLoads();

}  // namespace utlz

#endif  // UTLZ_BENCH_DIAGNOSIS_CAUSES_H_
