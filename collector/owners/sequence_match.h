// Finds a sequence of kernels again in the order in which a program launched them by themselves.
//
// An exact match is a path from site to site that has the kernels of the whole sequence. Otherwise
// the path with the fewest edits counts, of at most a tenth of the sequence. An edit is an item
// that has no site, or a place where the program launched kernels that the sequence does not have.
// Several paths may be equally good: an item whose owner they do not agree on has no site.
#ifndef UTLZ_COLLECTOR_OWNERS_SEQUENCE_MATCH_H_
#define UTLZ_COLLECTOR_OWNERS_SEQUENCE_MATCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collector/run/eager_order.h"

namespace utlz {

// Sites with what is compared (a label) and what is looked for (an owner). Thread safety: const.
class SitePaths {
 public:
  // Labels and owners are those of order.sites(), which outlives this. Owner 0 is none.
  SitePaths(const EagerOrder& order, std::vector<uint32_t> labels, std::vector<uint32_t> owners);

  uint32_t LabelOf(uint32_t site) const { return labels_[site]; }
  uint32_t OwnerOf(uint32_t site) const { return owners_[site]; }
  const std::vector<uint32_t>& FollowersOf(uint32_t site) const {
    return order_.sites()[site].followers;
  }
  const std::vector<uint32_t>& SitesWith(uint32_t label) const;

 private:
  const EagerOrder& order_;
  std::vector<uint32_t> labels_, owners_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> sites_by_label_;
};

inline constexpr size_t kFewestMatched = 4;         // items that must have a site
inline constexpr size_t kFewestDistinctLabels = 3;  // of the sequence: fewer may be like any other

// The site of each item, or EagerOrder::kNoSite; nothing where less than nine tenths of the items
// have one. An item without a site takes that of the item before it, where the nearest items with
// sites on both sides have one owner. Takes from `steps`, and gives up where they are used up.
std::optional<std::vector<uint32_t>> MatchSequence(const std::vector<uint32_t>& labels,
                                                   const SitePaths& paths, size_t* steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_SEQUENCE_MATCH_H_
