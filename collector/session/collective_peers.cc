#include "collector/session/collective_peers.h"

#include <algorithm>

#include "collector/kernel_names/kernel_class.h"
#include "proto/profile.pb.h"

namespace utlz {

void CollectivePeers::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_PROCESS) {
    Process process;
    if (!process.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    if (process.world_size() > 1) Add(kLaunchedRanks, process.world_size());
  } else if (type == FRAME_STRINGS) {
    ConsumeNames(payload);
  } else if (type == FRAME_COMMUNICATION_CALLS) {
    ConsumeCalls(payload);
  }
}

void CollectivePeers::ConsumeNames(std::string_view payload) {
  if (!communicators_.empty()) return;
  Strings names;
  if (!names.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
  const bool any = std::any_of(names.values().begin(), names.values().end(),
                               [](const std::string& name) { return IsCommunicationKernel(name); });
  if (any) communicators_[kNotKnown] = 0;
}

void CollectivePeers::ConsumeCalls(std::string_view payload) {
  CommunicationCallBatch batch;
  if (!batch.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
  if (batch.ranks_size() != batch.communicator_size()) return;
  for (int i = 0; i < batch.communicator_size(); ++i) {
    const uint64_t communicator = batch.communicator(i);
    if (communicator != 0 && communicator != kNotKnown) Add(communicator, batch.ranks(i));
  }
}

void CollectivePeers::Add(uint64_t communicator, uint32_t ranks) {
  communicators_.erase(kNotKnown);
  const bool has_room = communicators_.size() < kMostCommunicators;
  if (!has_room && !communicators_.contains(communicator)) return;
  uint32_t& known = communicators_[communicator];
  known = std::max(known, ranks);
}

}  // namespace utlz
