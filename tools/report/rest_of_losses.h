// Findings that stand apart from losses which could be had back one by one: what lies between now
// and the rooflines and is in no other finding, and what is below its threshold.
#ifndef UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_
#define UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_

#include "proto/summary.pb.h"

namespace utlz {

inline constexpr char kRuleOfTheRest[] = "remaining";  // its FindingSummary.rule

// Of a finding below its rule's threshold, whether nobody would miss it. What is not small is the
// nature of the load: products of one row, say.
inline bool IsSmall(const FindingSummary& finding) {
  constexpr double kNotSmall = 0.1;
  return finding.below_threshold() && finding.gain_share() < kNotSmall;
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_
