// The finding that is none: what lies between now and the rooflines, and in no other finding.
#ifndef UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_
#define UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_

namespace utlz {

inline constexpr char kRuleOfTheRest[] = "remaining";  // its FindingSummary.rule

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_REST_OF_LOSSES_H_
