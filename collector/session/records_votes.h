// What processes that compute together have decided of their records (decision 0083): where the
// launches of one are too dear to be recorded for longer, none is recorded for longer.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_RECORDS_VOTES_H_
#define UTLZ_COLLECTOR_SESSION_RECORDS_VOTES_H_

#include <cstdint>
#include <map>

#include "proto/ring_abi.h"

namespace utlz {

class RecordsVotes {
 public:
  // A process and its communicators (CollectivePeers::communicators).
  void Add(const std::map<uint64_t, uint32_t>& communicators, RecordsVote vote);

  // What the others with these communicators have decided. The process itself has been added, with
  // this vote.
  PeersVote OfPeers(const std::map<uint64_t, uint32_t>& communicators, RecordsVote own) const;

 private:
  struct Tally {
    uint32_t undecided = 0;
    uint32_t ended = 0;
  };

  std::map<uint64_t, Tally> tallies_;  // by communicator
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_RECORDS_VOTES_H_
