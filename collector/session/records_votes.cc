#include "collector/session/records_votes.h"

namespace utlz {

void RecordsVotes::Add(const std::map<uint64_t, uint32_t>& communicators, RecordsVote vote) {
  for (const auto& [id, ranks] : communicators) {
    Tally& tally = tallies_[id];
    if (vote == RecordsVote::kUndecided) ++tally.undecided;
    if (vote == RecordsVote::kEnded) ++tally.ended;
  }
}

PeersVote RecordsVotes::OfPeers(const std::map<uint64_t, uint32_t>& communicators,
                                RecordsVote own) const {
  const uint32_t own_undecided = own == RecordsVote::kUndecided ? 1 : 0;
  const uint32_t own_ended = own == RecordsVote::kEnded ? 1 : 0;
  PeersVote of_peers = PeersVote::kNone;
  for (const auto& [id, ranks] : communicators) {
    const Tally& tally = tallies_.at(id);
    if (tally.ended > own_ended) return PeersVote::kEnded;
    if (tally.undecided > own_undecided) of_peers = PeersVote::kUndecided;
  }
  return of_peers;
}

}  // namespace utlz
