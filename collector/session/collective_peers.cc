#include "collector/session/collective_peers.h"

#include "proto/profile.pb.h"

namespace utlz {

void CollectivePeers::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_PROCESS) {
    Process process;
    if (!process.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    if (process.world_size() > 1) communicators_.insert(kLaunchedRanks);
  } else if (type == FRAME_COMMUNICATION_CALLS) {
    CommunicationCallBatch batch;
    if (!batch.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    for (const uint64_t communicator : batch.communicator()) {
      if (communicator == 0 || communicators_.size() >= kMostCommunicators) continue;
      communicators_.insert(communicator);
    }
  }
}

}  // namespace utlz
