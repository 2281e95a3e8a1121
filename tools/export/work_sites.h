// From where a kernel was launched, and what was seen of its launches from there.
//
// Bounded: beyond kMaxSites launches of a new site go to one of the same kernel without stream,
// path and stack, and where that is new too they are left out. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_WORK_SITES_H_
#define UTLZ_TOOLS_EXPORT_WORK_SITES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace utlz {

enum class RunPhase : uint8_t { kSteady, kBefore, kAfter };

struct WorkSite {
  static constexpr uint32_t kAnyStream = UINT32_MAX;

  uint32_t name = 0;  // of the kernel, or the kind of copy
  uint32_t row = 0;   // what the report has of the kernel
  uint32_t source = 0;
  uint32_t gpu = 0;
  uint32_t stream = kAnyStream;
  uint32_t path = 0;      // of NVTX ranges
  uint32_t stack = 0;     // that launched it, of StackTable
  bool inferred = false;  // the stack: it is that of a graph's node, whose capture was not seen
  RunPhase phase = RunPhase::kSteady;

  auto operator<=>(const WorkSite&) const = default;
};

// As traced, not scaled to the run.
struct WorkSums {
  uint64_t launches = 0;
  uint64_t time_ns = 0;
  double idle_before_ns = 0;  // as often as gaps count (IdleBefore)
};

class WorkSites {
 public:
  static constexpr size_t kMaxSites = 1u << 18;

  std::optional<uint32_t> Find(WorkSite site) {
    if (const auto known = index_.find(site); known != index_.end()) return known->second;
    if (index_.size() < kMaxSites) return Insert(site);
    site.stream = WorkSite::kAnyStream;
    site.path = site.stack = 0;
    const auto known = index_.find(site);
    if (known != index_.end()) return known->second;
    if (index_.size() < kMaxSites + kMaxSites / 4) return Insert(site);
    return std::nullopt;
  }

  WorkSums& operator[](uint32_t index) { return sums_[index].second; }
  const std::vector<std::pair<WorkSite, WorkSums>>& all() const { return sums_; }

 private:
  uint32_t Insert(const WorkSite& site) {
    const auto index = static_cast<uint32_t>(sums_.size());
    index_.emplace(site, index);
    sums_.emplace_back(site, WorkSums{});
    return index;
  }

  std::map<WorkSite, uint32_t> index_;
  std::vector<std::pair<WorkSite, WorkSums>> sums_;  // by index
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_WORK_SITES_H_
