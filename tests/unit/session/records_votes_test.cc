#include "collector/session/records_votes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace utlz {
namespace {

using Communicators = std::map<uint64_t, uint32_t>;

const Communicators kNoCommunicator;
const Communicators kOneId = {{1, 2}};
const Communicators kAnotherId = {{2, 2}};
const Communicators kBothIds = {{1, 2}, {2, 2}};

TEST(RecordsVotesTest, WhoIsAloneWaitsForNobody) {
  RecordsVotes votes;
  votes.Add(kNoCommunicator, RecordsVote::kEnded);
  votes.Add(kNoCommunicator, RecordsVote::kUndecided);
  votes.Add(kOneId, RecordsVote::kUndecided);
  votes.Add(kAnotherId, RecordsVote::kEnded);
  EXPECT_EQ(votes.OfPeers(kNoCommunicator, RecordsVote::kUndecided), PeersVote::kNone);
  EXPECT_EQ(votes.OfPeers(kOneId, RecordsVote::kUndecided), PeersVote::kNone);
  EXPECT_EQ(votes.OfPeers(kAnotherId, RecordsVote::kEnded), PeersVote::kNone) << "its own vote";
}

TEST(RecordsVotesTest, PeersThatHaveNotVotedAreKnown) {
  RecordsVotes votes;
  votes.Add(kOneId, RecordsVote::kUndecided);
  votes.Add(kOneId, RecordsVote::kWindows);
  EXPECT_EQ(votes.OfPeers(kOneId, RecordsVote::kUndecided), PeersVote::kNone);
  EXPECT_EQ(votes.OfPeers(kOneId, RecordsVote::kWindows), PeersVote::kUndecided);
}

TEST(RecordsVotesTest, OneThatEndedEndsAllWithWhomItComputes) {
  RecordsVotes votes;
  votes.Add(kOneId, RecordsVote::kUndecided);
  votes.Add(kBothIds, RecordsVote::kEnded);
  votes.Add(kAnotherId, RecordsVote::kWindows);
  EXPECT_EQ(votes.OfPeers(kOneId, RecordsVote::kUndecided), PeersVote::kEnded);
  EXPECT_EQ(votes.OfPeers(kBothIds, RecordsVote::kEnded), PeersVote::kUndecided);
  EXPECT_EQ(votes.OfPeers(kAnotherId, RecordsVote::kWindows), PeersVote::kEnded);
}

}  // namespace
}  // namespace utlz
