// The diagnosis: rules that look at the summary and say what is wrong, how one sees it, what to try
// and what that could gain at most. The rules are one table in rules.cc.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_

#include <vector>

#include "collector/analysis/analysis.h"

namespace utlz {

inline constexpr int kMaxFindings = 5;
// Of losses below their rules' thresholds.
inline constexpr int kMaxBelow = 8;

struct FindingFacts;

// What the rules find in these facts: at most kMaxFindings, what ends the run first, then the most
// valuable; after them what is below its rule's threshold, and what is in no finding.
std::vector<FindingSummary> Diagnose(const FindingFacts& facts);

// Fills Summary.findings, most valuable first, and Summary.verdict. Everything else must be filled
// already.
void SummarizeFindings(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_
