// A kernel of a collective that holds its ranks together: it ends on none of them before it has
// begun on all.
#ifndef UTLZ_TOOLS_MERGE_COLLECTIVE_H_
#define UTLZ_TOOLS_MERGE_COLLECTIVE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace utlz {

struct Collective {
  uint64_t start_ns = 0;  // CLOCK_REALTIME of its host
  uint64_t end_ns = 0;
  uint32_t name = 0;  // the same for the same kernel function everywhere
};

// A process and the collectives that it took part in, by their ends.
struct RankTrace {
  uint32_t source = 0;  // in its profile
  uint64_t pid = 0;
  bool has_rank = false;
  uint32_t rank = 0;
  std::vector<Collective> collectives;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_COLLECTIVE_H_
