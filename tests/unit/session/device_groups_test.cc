#include "collector/session/device_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/session/collective_peers.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

auto Of(const std::vector<std::string>& uuids) {
  return AllOf(Field(&DeviceGroup::uuids, uuids), Field(&DeviceGroup::has_others, false));
}

TEST(DeviceGroups, ProcessesOfTheirOwnAreApart) {
  DeviceGroups groups;
  EXPECT_THAT(groups.Groups(), IsEmpty());
  groups.AddProcess({"a"}, {});
  groups.AddProcess({"b"}, {});
  groups.AddDevice("c");
  groups.AddProcess({}, {{7, 2}});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(Of({"a"}), Of({"b"}), Of({"c"})));
}

TEST(DeviceGroups, OneProcessJoinsItsGpus) {
  DeviceGroups groups;
  groups.AddProcess({"b", "c"}, {});
  groups.AddDevice("b");
  groups.AddProcess({"a"}, {});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(Of({"a"}), Of({"b", "c"})));
}

TEST(DeviceGroups, CommunicatorsJoinProcesses) {
  DeviceGroups groups;
  groups.AddProcess({"a"}, {{1, 2}});
  groups.AddProcess({"b"}, {{2, 0}});
  groups.AddProcess({"c"}, {{1, 2}});
  groups.AddProcess({"d"}, {{2, 0}});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(Of({"a", "c"}), Of({"b", "d"})));
  groups.AddProcess({"c"}, {{2, 0}, {3, 1}});
  EXPECT_THAT(groups.Groups(), ElementsAre(Of({"a", "b", "c", "d"})));
}

TEST(DeviceGroups, AGroupHasOthersWhereMoreRanksComputeThanAreSeen) {
  DeviceGroups groups;
  groups.AddProcess({"a"}, {{1, 0}});
  groups.AddProcess({"b"}, {{1, 3}});
  groups.AddProcess({"c"}, {});
  EXPECT_THAT(groups.Groups(),
              UnorderedElementsAre(Field(&DeviceGroup::has_others, true), Of({"c"})));
  groups.AddProcess({"a"}, {{1, 3}});
  EXPECT_THAT(groups.Groups(), UnorderedElementsAre(Of({"a", "b"}), Of({"c"})));
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
  EXPECT_THAT(peers.communicators(), ElementsAre(Pair(CollectivePeers::kLaunchedRanks, 2)));
}

TEST(CollectivePeers, CollectivesNameCommunicators) {
  CollectivePeers peers;
  CommunicationCallBatch batch;
  const auto add = [&](uint64_t communicator, uint32_t ranks) {
    batch.add_communicator(communicator);
    batch.add_ranks(ranks);
  };
  for (const uint64_t communicator : {0, 17, 0, 5, 17}) add(communicator, 0);
  add(17, 4);
  add(17, 0);
  peers.Consume(FRAME_COMMUNICATION_CALLS, batch.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(Pair(5, 0), Pair(17, 4)))
      << "0 is one that was not named";
  for (uint64_t communicator = 100; communicator < 10'000; ++communicator) {
    add(communicator, 2);
  }
  add(5, 8);
  peers.Consume(FRAME_COMMUNICATION_CALLS, batch.SerializeAsString());
  EXPECT_THAT(peers.communicators(), SizeIs(CollectivePeers::kMostCommunicators));
  EXPECT_EQ(peers.communicators().at(5), 8u);
}

// As of workers that a server started itself.
TEST(CollectivePeers, KernelsOfCollectivesTellThatThereAreOthers) {
  CollectivePeers peers;
  Strings names;
  names.add_values("_Z4gemmPfPKfS1_i");
  peers.Consume(FRAME_STRINGS, names.SerializeAsString());
  EXPECT_THAT(peers.communicators(), IsEmpty());
  names.add_values(
      "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  peers.Consume(FRAME_STRINGS, names.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(Pair(CollectivePeers::kNotKnown, 0)));
  CommunicationCallBatch batch;
  batch.add_communicator(17);
  batch.add_ranks(4);
  peers.Consume(FRAME_COMMUNICATION_CALLS, batch.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(Pair(17, 4))) << "now it is known";
  peers.Consume(FRAME_STRINGS, names.SerializeAsString());
  EXPECT_THAT(peers.communicators(), ElementsAre(Pair(17, 4)));
}

TEST(CollectivePeers, WhatMakesNoSenseIsPassedOver) {
  CollectivePeers peers;
  peers.Consume(FRAME_PROCESS, "\xff\xff\xff");
  peers.Consume(FRAME_STRINGS, "\xff\xff\xff");
  peers.Consume(FRAME_COMMUNICATION_CALLS, "\xff\xff\xff");
  CommunicationCallBatch shorter;
  shorter.add_communicator(17);
  peers.Consume(FRAME_COMMUNICATION_CALLS, shorter.SerializeAsString());
  EXPECT_THAT(peers.communicators(), IsEmpty());
}

}  // namespace
}  // namespace utlz
