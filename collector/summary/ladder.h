// What one unit of work takes now, and what it would take if one loss after another were gone; the
// kind of problem that follows from it; and how far the figures can be trusted.
#ifndef UTLZ_COLLECTOR_SUMMARY_LADDER_H_
#define UTLZ_COLLECTOR_SUMMARY_LADDER_H_

#include "collector/analysis/analysis.h"

namespace utlz {

inline constexpr char kRungNow[] = "now";
inline constexpr char kRungNoIdle[] = "no_idle";
inline constexpr char kRungAtRoofline[] = "at_roofline";
inline constexpr char kRungAtPeak[] = "at_peak";

// Fills Summary.ladder, Summary.problem and Summary.trust; steps, window, devices and capture must
// be filled already.
void SummarizeLadder(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_LADDER_H_
