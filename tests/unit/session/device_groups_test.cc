#include "collector/session/device_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/session/collective_peers.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(DeviceGroups, ProcessesOfTheirOwnAreApart) {
  DeviceGroups groups;
  EXPECT_THAT(groups.Groups(), IsEmpty());
  groups.AddProcess({"a"}, {});
  groups.AddProcess({"b"}, {});
  groups.AddDevice("c");
  groups.AddProcess({}, {7});
  EXPECT_THAT(groups.Groups(),
              UnorderedElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

TEST(DeviceGroups, OneProcessJoinsItsGpus) {
  DeviceGroups groups;
  groups.AddProcess({"b", "c"}, {});
  groups.AddDevice("b");
  groups.AddProcess({"a"}, {});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(ElementsAre("a"), ElementsAre("b", "c")));
}

TEST(DeviceGroups, CommunicatorsJoinProcesses) {
  DeviceGroups groups;
  groups.AddProcess({"a"}, {1});
  groups.AddProcess({"b"}, {2});
  groups.AddProcess({"c"}, {1});
  groups.AddProcess({"d"}, {2});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(ElementsAre("a", "c"), ElementsAre("b", "d")));
  groups.AddProcess({"c"}, {2, 3});
  EXPECT_THAT(groups.Groups(), ElementsAre(ElementsAre("a", "b", "c", "d")));
}

TEST(CollectivePeers, TheLaunchersRanksComputeTogether) {
  CollectivePeers peers;
  EXPECT_THAT(peers.communicators(), IsEmpty());
  Process process;
  process.set_rank(0);
  process.set_world_size(1);
  peers.Consume(FRAME_PROCESS, process.SerializeAsString());
  EXPECT_THAT(peers.communicators(), IsEmpty());
  process.set_world_size(2);
  peers.Consume(FRAME_PROCESS, process.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(CollectivePeers::kLaunchedRanks));
}

TEST(CollectivePeers, CollectivesNameCommunicators) {
  CollectivePeers peers;
  CommunicationCallBatch batch;
  for (const uint64_t communicator : {0, 17, 0, 5, 17}) batch.add_communicator(communicator);
  peers.Consume(FRAME_COMMUNICATION_CALLS, batch.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(5, 17)) << "0 is one that was not named";
  for (uint64_t communicator = 100; communicator < 10'000; ++communicator) {
    batch.add_communicator(communicator);
  }
  peers.Consume(FRAME_COMMUNICATION_CALLS, batch.SerializeAsString());
  EXPECT_THAT(peers.communicators(), SizeIs(CollectivePeers::kMostCommunicators));
}

TEST(CollectivePeers, WhatMakesNoSenseIsPassedOver) {
  CollectivePeers peers;
  peers.Consume(FRAME_PROCESS, "\xff\xff\xff");
  peers.Consume(FRAME_COMMUNICATION_CALLS, "\xff\xff\xff");
  EXPECT_THAT(peers.communicators(), IsEmpty());
}

}  // namespace
}  // namespace utlz
