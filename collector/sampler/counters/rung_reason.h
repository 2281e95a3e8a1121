// Why a GPU's counters cannot be had, in words for the report.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_RUNG_REASON_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_RUNG_REASON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace utlz {

struct RungReason {
  std::string reason;  // one sentence; empty where nothing is amiss
  std::string remedy;
  bool permanent = false;  // trying again will not help

  friend bool operator==(const RungReason&, const RungReason&) = default;
};

// For a failure of taking or using the counters, with the code that CuptiStatus gives it.
RungReason ExplainCounterFailure(const absl::Status& status);

// For a CUPTI that could not be loaded; `passed_over` as FindCupti says.
RungReason ExplainMissingCupti(const absl::Status& status,
                               const std::vector<std::string>& passed_over);

// The remedy for lacking permission, also for doctor.
extern const char kCounterPermissionRemedy[];

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_RUNG_REASON_H_
