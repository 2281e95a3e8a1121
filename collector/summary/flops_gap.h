// What lies between the FLOPs that were executed and those that the model needs, in parts that sum
// to the whole.
#ifndef UTLZ_COLLECTOR_SUMMARY_FLOPS_GAP_H_
#define UTLZ_COLLECTOR_SUMMARY_FLOPS_GAP_H_

#include <string>

#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {

// Names of the parts of the gap, which the diagnosis and tests look for.
inline constexpr char kGapPadding[] = "padding";
inline constexpr char kGapAttention[] = "attention beyond the model's";
inline constexpr char kGapTiles[] = "rows that fill up tiles";
inline constexpr char kGapMore[] =
    "recomputation, channels or tiles filled up, or work outside the model";
// Of passes that compute nothing again.
inline constexpr char kGapMoreForward[] = "channels or tiles filled up, or work outside the model";
inline constexpr char kGapFewer[] = "not executed, or not counted";

// How far executed FLOPs exceed the model's, as a share of these: "14.3 % above the model's". Above
// 100 % percent are hard to read: "5.17 × the model's".
std::string AboveModelText(double more);

// FLOPs that were counted in a mean step.
struct ExecutedFlops {
  double all = 0;
  double attention = 0;
  double filling = 0;  // of rows that only fill up tiles, at most
};

// Sets the parts and the sentence about them. The model's and the executed FLOPs must be there.
// `recomputes`: whether the run may compute activations again.
void SetFlopsGap(const WorkloadSpec& work, const ExecutedFlops& executed, bool recomputes,
                 EfficiencySummary* efficiency);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_FLOPS_GAP_H_
