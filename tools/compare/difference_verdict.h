// The sentence over a comparison, and what makes two sides hard to compare. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_DIFFERENCE_VERDICT_H_
#define UTLZ_TOOLS_COMPARE_DIFFERENCE_VERDICT_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/difference.h"

namespace utlz {

std::string DifferenceVerdict(const Difference& difference);

// Sentences: other GPUs, other sources, unfinished runs, …
std::vector<std::string> Caveats(const std::vector<Summary>& before,
                                 const std::vector<Summary>& after);

// "2 × NVIDIA H200", or "an unknown GPU".
std::string DevicesText(const Summary& run);

// The source as the JSON contract writes it: "sampled", "time_only", …
std::string SourceText(CounterSource source);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_DIFFERENCE_VERDICT_H_
