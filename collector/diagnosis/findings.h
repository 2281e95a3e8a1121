// The diagnosis: rules that look at the summary and say what is wrong, how one sees it, what to try
// and what that could gain at most. The rules are one table in findings.cc.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_

#include <vector>

#include "collector/analysis/analysis.h"

namespace utlz {

inline constexpr int kMaxFindings = 5;

struct FindingFacts;

// What the rules find in these facts: at most kMaxFindings, what ends the run first, then the most
// valuable.
std::vector<FindingSummary> Diagnose(const FindingFacts& facts);

// Fills Summary.findings, most valuable first, and Summary.verdict. Everything else must be filled
// already. Silent where nothing is wrong.
void SummarizeFindings(const ModelState& model, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_FINDINGS_H_
