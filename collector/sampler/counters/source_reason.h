// Why a GPU's counters cannot be had, in words for the report.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_SOURCE_REASON_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_SOURCE_REASON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace utlz {

struct SourceReason {
  std::string reason;  // one sentence; empty where nothing is amiss
  std::string remedy;
  bool permanent = false;  // trying again will not help

  friend bool operator==(const SourceReason&, const SourceReason&) = default;
};

// For a failure of taking or using the counters, with the code that CuptiStatus gives it.
SourceReason ExplainCounterFailure(const absl::Status& status);

// For a CUPTI that could not be loaded; `passed_over` as FindCupti says.
SourceReason ExplainMissingCupti(const absl::Status& status,
                                 const std::vector<std::string>& passed_over);

// The remedy for lacking permission, also for doctor.
extern const char kCounterPermissionRemedy[];

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_SOURCE_REASON_H_
