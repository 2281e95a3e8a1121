#include "collector/session/collective_peers.h"

#include <algorithm>

#include "proto/profile.pb.h"

namespace utlz {

void CollectivePeers::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_PROCESS) {
    Process process;
    if (!process.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    if (process.world_size() > 1) communicators_[kLaunchedRanks] = process.world_size();
  } else if (type == FRAME_COMMUNICATION_CALLS) {
    CommunicationCallBatch batch;
    if (!batch.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    if (batch.ranks_size() != batch.communicator_size()) return;
    for (int i = 0; i < batch.communicator_size(); ++i) {
      const uint64_t communicator = batch.communicator(i);
      const bool has_room = communicators_.size() < kMostCommunicators;
      if (communicator == 0 || (!has_room && !communicators_.contains(communicator))) continue;
      uint32_t& ranks = communicators_[communicator];
      ranks = std::max(ranks, batch.ranks(i));
    }
  }
}

}  // namespace utlz
