// Of how much of a family's time the counters are known: the rates of a few counted kernels say
// nothing of a family that is mostly uncounted. The same in text and Markdown.
#ifndef UTLZ_TOOLS_REPORT_COUNTED_FAMILY_H_
#define UTLZ_TOOLS_REPORT_COUNTED_FAMILY_H_

#include <algorithm>
#include <string>

#include "collector/capture_trust.h"
#include "collector/text/number_text.h"
#include "proto/summary.pb.h"

namespace utlz {

// Families with less of the kernels' time than this are left out, as is a share that is less.
inline constexpr double kWorthALine = 0.01;

inline double UncountedShare(const FamilySummary& family) {
  if (family.time_ns() <= 0) return 0;
  return std::clamp(family.time_without_counters_ns() / family.time_ns(), 0.0, 1.0);
}

// Empty where it is not worth a figure.
inline std::string UncountedText(const FamilySummary& family) {
  const double share = UncountedShare(family);
  return share >= kWorthALine ? PercentText(share) : std::string();
}

inline bool IsCounted(const FamilySummary& family) {
  return UncountedShare(family) < kMostlyUncounted;
}

inline bool SomeUncounted(const Summary& summary) {
  return std::any_of(
      summary.families().begin(), summary.families().end(), [](const FamilySummary& family) {
        return family.time_share() >= kWorthALine && UncountedShare(family) >= kWorthALine;
      });
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_COUNTED_FAMILY_H_
