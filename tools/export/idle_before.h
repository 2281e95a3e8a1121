// How long each GPU stood idle before which kernels: the gap before a kernel belongs to it. The gap
// before a copy or a memory set, which no line launched, belongs to the kernel that follows, as in
// collector/timeline/idle_by_stack.h. Gaps count as often as the report counts them.
//
// Work comes in no order and is put in order of its start first, as far as the bounded queues
// reach. What was not traced ends a gap without being idle time. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_IDLE_BEFORE_H_
#define UTLZ_TOOLS_EXPORT_IDLE_BEFORE_H_

#include <cstdint>
#include <vector>

#include "collector/analysis/weighed_time.h"
#include "collector/timeline/activity_sorter.h"
#include "tools/export/work_sites.h"

namespace utlz {

class IdleBefore {
 public:
  static constexpr uint32_t kNoSite = UINT32_MAX;

  // `sites` outlives it, and gets the sums.
  explicit IdleBefore(WorkSites* sites) : sites_(sites) {}

  // How often moments of this GPU's gaps count; without a call, each once.
  void SetTime(uint32_t gpu, const WeighedTime& time) { GpuAt(gpu)->time = time; }
  // `site`: index into the sites, kNoSite for what was not traced.
  void Add(uint32_t gpu, uint64_t start_ns, uint64_t end_ns, uint32_t site, bool is_kernel);
  void Finish();
  // Of gaps before copies that no traced kernel followed; after Finish().
  double OwnerlessNs(uint32_t gpu) const {
    return gpu < gpus_.size() ? gpus_[gpu].ownerless_ns : 0;
  }

 private:
  static constexpr size_t kMaxHeld = 2 * ActivitySorter::kDefaultMaximumHeld;  // of all GPUs

  struct Gpu {
    ActivitySorter queue;
    WeighedTime time;
    uint64_t busy_until_ns = 0;
    double waiting_ns = 0;  // before copies, for the kernel that follows
    double ownerless_ns = 0;
  };

  Gpu* GpuAt(uint32_t gpu);
  void Release(Gpu* gpu, uint64_t watermark_ns);
  void Take(const Activity& activity, Gpu* gpu);

  WorkSites* sites_;
  std::vector<Gpu> gpus_;
  size_t held_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_IDLE_BEFORE_H_
