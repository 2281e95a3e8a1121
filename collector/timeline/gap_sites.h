// Between which kernels a device stood idle for long: what one looks for in the program.
//
// Bounded to kMostGaps; later ones are not kept. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_GAP_SITES_H_
#define UTLZ_COLLECTOR_TIMELINE_GAP_SITES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

struct GapSite {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t before = kNoKernel;  // index into KernelTable: the kernel that ended last
  uint32_t after = kNoKernel;   // the one that ends the gap
  bool first_launch = false;    // of that variant
};

class GapSites {
 public:
  static constexpr size_t kMostGaps = 65536;
  // Shorter ones are the launches' own.
  static constexpr uint64_t kShortestNs = 100'000;

  // In order of start. Gaps that copies or untraced time begin or end are not of kernels.
  void Add(const Activity& activity);

  const std::vector<GapSite>& gaps() const { return gaps_; }

 private:
  uint64_t busy_until_ns_ = 0;
  uint32_t last_kernel_ = kNoKernel;  // of what ended last; kNoKernel: it was none
  std::vector<bool> seen_;            // by kernel
  std::vector<GapSite> gaps_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_GAP_SITES_H_
