// What is known of NCCL's functions that exchange data: which kernels they run, what the size of a
// message means, and how much each byte loads the links, as nccl-tests counts it.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_COLLECTIVE_KIND_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_COLLECTIVE_KIND_H_

#include <cstdint>
#include <string_view>

namespace utlz {

// Of the bytes of a collective, what goes over the slowest link of `n` ranks.
enum class LinkShare { kAll, kAllButOwn /* (n−1)/n */, kThereAndBack /* 2(n−1)/n */ };

struct CollectiveKind {
  std::string_view function;
  std::string_view kernels;  // CollectiveOf() its kernels
  bool size_is_of_a_rank;    // the whole is that, times the ranks
  LinkShare link_share;
};

// Null for functions that exchange no data. "ncclAllReduceConfig" is as "ncclAllReduce".
const CollectiveKind* CollectiveKindOf(std::string_view function);

// Bytes over the slowest link for each byte of the whole. Above one rank.
double LinkBytes(LinkShare share, uint32_t ranks);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_COLLECTIVE_KIND_H_
