#include "collector/run/eager_order.h"

#include <algorithm>

namespace utlz {
namespace {

// Of an entry of a table of hashes, beside what it holds.
constexpr size_t kNodeBytes = 64;

uint64_t ProcessKey(uint32_t device, const Activity& activity) {
  return uint64_t{device} << 16 | activity.source;
}

// Contexts of a process are numbered from 1: those that differ by 65,536 share a key.
uint64_t StreamKey(const Activity& activity) {
  return uint64_t{activity.source} << 48 | uint64_t{activity.context & 0xffff} << 32 |
         activity.stream;
}

}  // namespace

void EagerOrder::Add(uint32_t device, const Activity& activity) {
  // Before the first stack nothing can be told from the order.
  any_stack_ = any_stack_ || activity.stack != 0;
  if (!any_stack_) return;
  if (activity.kind == ActivityKind::kUntraced) {
    processes_.clear();
    streams_.clear();
    return;
  }
  if (activity.kernel == kNoKernel) return;
  const uint64_t process = ProcessKey(device, activity), stream = StreamKey(activity);
  if (activity.of_graph) {
    processes_.erase(process);
    streams_.erase(stream);
    return;
  }
  const auto previous = processes_.find(process);
  const uint32_t site = SiteOf(previous == processes_.end() ? kNoSite : previous->second, activity);
  Link(process, site, &processes_);
  Link(stream, site, &streams_);
}

uint32_t EagerOrder::SiteOf(uint32_t previous, const Activity& activity) {
  // In a loop the same one follows as before: that needs no look into the table.
  if (previous != kNoSite) {
    for (const uint32_t next : sites_[previous].followers) {
      if (sites_[next].kernel == activity.kernel && sites_[next].stack == activity.stack) {
        return next;
      }
    }
  }
  const uint64_t key = uint64_t{activity.kernel} << 32 | activity.stack;
  if (const auto known = site_ids_.find(key); known != site_ids_.end()) return known->second;
  if (sites_.size() >= kMostSites || !memory_->Take(2 * sizeof(Site) + kNodeBytes)) return kNoSite;
  const auto site = static_cast<uint32_t>(sites_.size());
  sites_.push_back({activity.kernel, activity.stack, {}});
  site_ids_.emplace(key, site);
  return site;
}

void EagerOrder::Link(uint64_t key, uint32_t site, Chains* chains) {
  const auto chain = chains->find(key);
  if (site == kNoSite) {
    if (chain != chains->end()) chains->erase(chain);
    return;
  }
  if (chain == chains->end()) {
    if (chains->size() < kMostChains) chains->emplace(key, site);
    return;
  }
  Append(chain->second, site);
  chain->second = site;
}

void EagerOrder::Append(uint32_t from, uint32_t to) {
  std::vector<uint32_t>& followers = sites_[from].followers;
  if (std::find(followers.begin(), followers.end(), to) != followers.end()) return;
  if (followers.size() >= kMostFollowers || !memory_->Take(2 * sizeof(uint32_t))) return;
  followers.push_back(to);
}

}  // namespace utlz
