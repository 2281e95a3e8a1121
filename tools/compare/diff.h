// Computes a Difference. Pure, thread-safe; memory and time grow with the number of kernels.
#ifndef UTLZ_TOOLS_COMPARE_DIFF_H_
#define UTLZ_TOOLS_COMPARE_DIFF_H_

#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/difference.h"

namespace utlz {

// The waterfall's slices that belong to no step, as collector/model/waterfall.h names them.
inline constexpr char kSlowdownSlice[] = "waiting for tracing itself";
inline constexpr const char* kSlicesOutsideSteps[] = {"before the first and after the last work",
                                                      "start-up: before the first steady step",
                                                      "after the last step",
                                                      "pauses between steps",
                                                      "not traced",
                                                      kSlowdownSlice};

struct DiffOptions {
  // Chance that two runs of the same thing show any difference at all in one family of numbers
  // (quantities, slices, kernels); divided among the family's members.
  double false_alarm_probability = 0.01;
  // With one run on a side, what differs between runs (clocks, memory placement, temperature)
  // cannot be seen: this share of a number is added to its error. With several runs on both sides
  // the spread between runs is used instead.
  double run_to_run_share = 0.01;
  // Changes smaller than this share of the whole (a step, or the run) are not worth a line.
  double least_share = 0.0005;
};

Difference Diff(const Summary& before, const Summary& after, const DiffOptions& options = {});

// Several runs on a side. Where both have the same number, they are taken as pairs in the order
// given, which cancels drift of a machine between pairs.
Difference DiffRuns(const std::vector<Summary>& before, const std::vector<Summary>& after,
                    const DiffOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_DIFF_H_
