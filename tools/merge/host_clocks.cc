#include "tools/merge/host_clocks.h"

#include <algorithm>
#include <optional>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Ranks of one host that are tried against those of another: groups that talk (data parallel,
// tensor parallel) differ from rank to rank.
constexpr size_t kRanksTried = 8;

struct Host {
  HostClock clock;
  std::vector<const RankTrace*> ranks;  // most collectives first
};

std::vector<Host> HostsOf(const std::vector<ProfileOutline>& profiles) {
  std::vector<Host> hosts;
  for (const ProfileOutline& profile : profiles) {
    auto host = std::find_if(hosts.begin(), hosts.end(),
                             [&](const Host& one) { return one.clock.host == profile.host; });
    if (host == hosts.end()) {
      hosts.push_back({});
      host = hosts.end() - 1;
      host->clock.host = profile.host;
    }
    for (const RankTrace& rank : profile.ranks) {
      if (!rank.collectives.empty()) host->ranks.push_back(&rank);
    }
  }
  for (Host& host : hosts) {
    std::stable_sort(host.ranks.begin(), host.ranks.end(), [](const auto* a, const auto* b) {
      return a->collectives.size() > b->collectives.size();
    });
    if (host.ranks.size() > kRanksTried) host.ranks.resize(kRanksTried);
  }
  return hosts;
}

// The first tie that is beyond doubt and uses most of what was recorded; else the one with the most
// pairs among those that are beyond doubt, if there are such.
std::optional<ClockShift> Tie(const Host& a, const Host& b) {
  std::optional<ClockShift> best;
  // Ranks in the same place first: they mostly talk to each other.
  for (size_t apart = 0; apart < kRanksTried; ++apart) {
    for (size_t i = 0; i < a.ranks.size(); ++i) {
      const size_t k = (i + apart) % kRanksTried;
      if (k >= b.ranks.size()) continue;
      const std::vector<Collective>& from = a.ranks[i]->collectives;
      const std::vector<Collective>& to = b.ranks[k]->collectives;
      const auto shift = AlignClocks(from, to);
      if (!shift) continue;
      const bool sure = !shift->other_shift_ns.has_value();
      if (sure && 2 * shift->pairs >= std::min(from.size(), to.size())) return shift;
      const bool best_is_sure = best && !best->other_shift_ns.has_value();
      if (!best || (sure && !best_is_sure) ||
          (sure == best_is_sure && shift->pairs > best->pairs)) {
        best = shift;
      }
    }
  }
  return best;
}

// a against the first, then b against a: b against the first.
ClockShift Chained(const ClockShift& first, const ClockShift& second) {
  ClockShift whole = second;
  whole.drift = first.drift + second.drift;
  whole.shift_ns = first.At(second.middle_ns) + second.shift_ns;
  whole.error_ns = first.error_ns + second.error_ns;
  return whole;
}

std::string UncertaintyOf(const ClockShift& shift) {
  return "The steps are so regular that " + TimeText(*shift.other_shift_ns) +
         " would fit as well; the smaller shift was taken.";
}

}  // namespace

std::vector<HostClock> AlignHosts(const std::vector<ProfileOutline>& profiles) {
  std::vector<Host> hosts = HostsOf(profiles);
  if (!hosts.empty()) hosts.front().clock.aligned = true;
  // Breadth first from the first host, so that chains are as short as they can be.
  for (size_t round = 0; round < hosts.size(); ++round) {
    std::vector<size_t> known;
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i].clock.aligned) known.push_back(i);
    }
    bool found = false;
    for (Host& host : hosts) {
      if (host.clock.aligned) continue;
      for (const size_t through : known) {
        const auto tie = Tie(hosts[through], host);
        if (!tie) continue;
        host.clock.shift = Chained(hosts[through].clock.shift, *tie);
        host.clock.aligned = true;
        if (tie->other_shift_ns) host.clock.notes.push_back(UncertaintyOf(*tie));
        if (through != 0)
          host.clock.notes.push_back("Tied through " + hosts[through].clock.host + ".");
        found = true;
        break;
      }
    }
    if (!found) break;
  }
  std::vector<HostClock> clocks;
  for (Host& host : hosts) {
    if (!host.clock.aligned) {
      host.clock.notes.push_back(
          "No collective ties it to the other hosts: its clock is as it was.");
    }
    clocks.push_back(std::move(host.clock));
  }
  return clocks;
}

}  // namespace utlz
