// Who comes last into collectives, and how long the others wait for it.
#ifndef UTLZ_TOOLS_MERGE_STRAGGLERS_H_
#define UTLZ_TOOLS_MERGE_STRAGGLERS_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/merge/clock_alignment.h"
#include "tools/merge/collective.h"

namespace utlz {

// A process with its place in the merged profile.
struct PlacedRank {
  const RankTrace* trace = nullptr;
  ClockShift clock;  // of its host against the first one's; all zero on the first
  std::string host;
  uint32_t source_index = 0;
};

// Fills ranks, collectives and verdict; leaves the clocks alone. Begins that lie closer together
// than the clocks are known make no one last. `wall_ns` is the merged run's. Pure.
void FindStragglers(const std::vector<PlacedRank>& ranks, double wall_ns, RanksSummary* summary);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_STRAGGLERS_H_
