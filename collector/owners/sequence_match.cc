#include "collector/owners/sequence_match.h"

#include <algorithm>
#include <set>
#include <utility>

namespace utlz {
namespace {

constexpr uint32_t kNoSite = EagerOrder::kNoSite;
constexpr uint32_t kNone = UINT32_MAX;
// Of all items of one sequence together.
constexpr size_t kMostStates = 1u << 19;
// How far a path may go through sites that the sequence does not have, at one place.
constexpr uint32_t kFarthestJump = 64;
constexpr size_t kMostVisited = 256;

// Paths with at most so many edits, item by item: those of fewest edits to each site.
class Alignment {
 public:
  Alignment(const std::vector<uint32_t>& labels, const SitePaths& paths, uint32_t most_edits,
            size_t* steps)
      : labels_(labels), paths_(paths), most_edits_(most_edits), steps_(steps) {}

  // False where there is none, or the work became too much.
  bool Find() {
    for (uint32_t item = 0; item < labels_.size(); ++item) {
      if (!Advance(item)) return false;
    }
    MarkBest();
    return true;
  }

  // The one site of an item, as far as all best paths agree on its owner.
  std::vector<uint32_t> Sites() const {
    std::vector<uint32_t> sites(labels_.size(), kNoSite);
    for (size_t item = 0; item < labels_.size(); ++item) sites[item] = SiteOf(item);
    return sites;
  }

 private:
  struct State {
    uint32_t site;
    bool
        has_item;  // the item is at the site; otherwise the item has none, and the path waits there
    uint32_t edits;
    uint32_t links = kNone;  // states before it, of as few edits
    bool is_best = false;
  };
  struct Link {
    uint32_t state;
    uint32_t next;
  };

  bool Take(size_t steps) {
    if (*steps_ < steps) {
      *steps_ = 0;
      return false;
    }
    *steps_ -= steps;
    return true;
  }

  bool Advance(uint32_t item) {
    const uint32_t begin = item == 0 ? 0 : layers_.back();
    const auto end = static_cast<uint32_t>(states_.size());
    layers_.push_back(end);
    layer_.clear();
    for (uint32_t from = begin; from < end; ++from) {
      if (!Continue(from, labels_[item]) || states_.size() > kMostStates) return false;
    }
    // The items before it have none: the path begins here.
    if (item <= most_edits_) {
      const std::vector<uint32_t>& starts = paths_.SitesWith(labels_[item]);
      if (!Take(starts.size()) || states_.size() + starts.size() > kMostStates) return false;
      for (const uint32_t site : starts) Reach(site, true, item, kNone);
    }
    return states_.size() > end || item < most_edits_;
  }

  bool Continue(uint32_t from, uint32_t label) {
    const State state = states_[from];
    const std::vector<uint32_t>& followers = paths_.FollowersOf(state.site);
    if (!Take(1 + followers.size())) return false;
    for (const uint32_t next : followers) {
      if (paths_.LabelOf(next) == label) Reach(next, true, state.edits, from);
    }
    if (most_edits_ == 0) return true;
    Reach(state.site, false, state.edits + 1, from);
    // What the program launched in place of an item without a site is no further edit.
    const uint32_t edits = state.has_item ? state.edits + 1 : state.edits;
    return edits > most_edits_ || Jump(from, label, edits);
  }

  // To the nearest sites with the label that do not follow at once.
  bool Jump(uint32_t from, uint32_t label, uint32_t edits) {
    std::vector<uint32_t> front = paths_.FollowersOf(states_[from].site);
    visited_.clear();
    visited_.insert(front.begin(), front.end());
    bool found = false;
    for (uint32_t far = 1; far < kFarthestJump && !found && !front.empty(); ++far) {
      std::vector<uint32_t> next_front;
      for (const uint32_t site : front) {
        const std::vector<uint32_t>& followers = paths_.FollowersOf(site);
        if (!Take(1 + followers.size())) return false;
        for (const uint32_t next : followers) {
          if (visited_.size() >= kMostVisited || !visited_.insert(next).second) continue;
          next_front.push_back(next);
          if (paths_.LabelOf(next) != label) continue;
          found = true;
          Reach(next, true, edits, from);
        }
      }
      front = std::move(next_front);
    }
    return true;
  }

  void Reach(uint32_t site, bool has_item, uint32_t edits, uint32_t from) {
    if (edits > most_edits_) return;
    const uint64_t key = uint64_t{site} << 1 | (has_item ? 1 : 0);
    const auto [known, is_new] = layer_.try_emplace(key, static_cast<uint32_t>(states_.size()));
    if (is_new) states_.push_back({site, has_item, edits});
    State& state = states_[known->second];
    if (edits > state.edits) return;
    if (edits < state.edits) {
      state.edits = edits;
      state.links = kNone;
    }
    if (from == kNone) return;
    links_.push_back({from, state.links});
    state.links = static_cast<uint32_t>(links_.size()) - 1;
  }

  void MarkBest() {
    const auto begin = static_cast<std::ptrdiff_t>(layers_.back());
    const auto best =
        std::min_element(states_.begin() + begin, states_.end(),
                         [](const State& a, const State& b) { return a.edits < b.edits; });
    std::vector<uint32_t> open;
    for (auto i = static_cast<uint32_t>(begin); i < states_.size(); ++i) {
      if (states_[i].edits == best->edits) open.push_back(i);
    }
    while (!open.empty()) {
      State& state = states_[open.back()];
      open.pop_back();
      if (state.is_best) continue;
      state.is_best = true;
      for (uint32_t link = state.links; link != kNone; link = links_[link].next) {
        open.push_back(links_[link].state);
      }
    }
  }

  uint32_t SiteOf(size_t item) const {
    const size_t end = item + 1 < layers_.size() ? layers_[item + 1] : states_.size();
    uint32_t site = kNoSite;
    for (size_t i = layers_[item]; i < end; ++i) {
      const State& state = states_[i];
      if (!state.is_best) continue;
      if (!state.has_item) return kNoSite;
      if (site != kNoSite && paths_.OwnerOf(site) != paths_.OwnerOf(state.site)) return kNoSite;
      site = std::min(site, state.site);
    }
    return site;
  }

  const std::vector<uint32_t>& labels_;
  const SitePaths& paths_;
  const uint32_t most_edits_;
  size_t* steps_;
  std::vector<State> states_;
  std::vector<Link> links_;
  std::vector<uint32_t> layers_;                  // of each item, its first state
  std::unordered_map<uint64_t, uint32_t> layer_;  // states of the item that is being added
  std::set<uint32_t> visited_;
};

void FillBetweenOneOwner(const SitePaths& paths, std::vector<uint32_t>* sites) {
  size_t before = sites->size();  // the nearest item with a site; none yet
  for (size_t i = 0; i < sites->size(); ++i) {
    const uint32_t site = (*sites)[i];
    if (site == kNoSite) continue;
    if (before < i && paths.OwnerOf((*sites)[before]) == paths.OwnerOf(site)) {
      std::fill(sites->begin() + static_cast<std::ptrdiff_t>(before) + 1,
                sites->begin() + static_cast<std::ptrdiff_t>(i), (*sites)[before]);
    }
    before = i;
  }
}

bool IsTelling(const std::vector<uint32_t>& labels) {
  std::set<uint32_t> distinct;
  for (const uint32_t label : labels) {
    distinct.insert(label);
    if (distinct.size() >= kFewestDistinctLabels) return labels.size() >= kFewestMatched;
  }
  return false;
}

}  // namespace

SitePaths::SitePaths(const EagerOrder& order, std::vector<uint32_t> labels,
                     std::vector<uint32_t> owners)
    : order_(order), labels_(std::move(labels)), owners_(std::move(owners)) {
  for (uint32_t site = 0; site < labels_.size(); ++site) {
    sites_by_label_[labels_[site]].push_back(site);
  }
}

const std::vector<uint32_t>& SitePaths::SitesWith(uint32_t label) const {
  static const std::vector<uint32_t> kNoSites;
  const auto known = sites_by_label_.find(label);
  return known == sites_by_label_.end() ? kNoSites : known->second;
}

std::optional<std::vector<uint32_t>> MatchSequence(const std::vector<uint32_t>& labels,
                                                   const SitePaths& paths, size_t* steps) {
  if (!IsTelling(labels)) return std::nullopt;
  const auto most = static_cast<uint32_t>(labels.size() / 10);
  for (uint32_t edits = 0;; edits = std::min(most, 2 * edits + 1)) {
    Alignment alignment(labels, paths, edits, steps);
    if (alignment.Find()) {
      std::vector<uint32_t> sites = alignment.Sites();
      const auto without = std::count(sites.begin(), sites.end(), kNoSite);
      if (10 * static_cast<size_t>(without) > labels.size()) return std::nullopt;
      FillBetweenOneOwner(paths, &sites);
      return sites;
    }
    if (edits == most || *steps == 0) return std::nullopt;
  }
}

}  // namespace utlz
