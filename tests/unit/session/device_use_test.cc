#include "collector/session/device_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/profile.pb.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kFirst(16, 'a');
const std::string kSecond(16, 'b');

void Tell(DeviceUse* use, uint32_t ordinal, const std::string& uuid) {
  Device device;
  device.set_ordinal(ordinal);
  device.set_uuid(uuid);
  use->Consume(FRAME_DEVICE, device.SerializeAsString());
}

void SendContext(DeviceUse* use, uint32_t ordinal) {
  Context context;
  context.set_id(1);
  context.set_device_ordinal(ordinal);
  use->Consume(FRAME_CONTEXT, context.SerializeAsString());
}

TEST(DeviceUse, AllThatItSeesUntilItHasAContext) {
  DeviceUse use;
  EXPECT_THAT(use.Uuids(), IsEmpty());
  Tell(&use, 0, kFirst);
  Tell(&use, 1, kSecond);
  EXPECT_THAT(use.Uuids(), ElementsAre(kFirst, kSecond));
  SendContext(&use, 1);
  EXPECT_THAT(use.Uuids(), ElementsAre(kSecond));
  EXPECT_TRUE(use.Uses(kSecond));
  EXPECT_FALSE(use.Uses(kFirst));
}

TEST(DeviceUse, WhatMakesNoSenseIsPassedOver) {
  DeviceUse use;
  Tell(&use, 0, "short");
  use.Consume(FRAME_DEVICE, "\xff\xff\xff");
  use.Consume(FRAME_CONTEXT, "\xff\xff\xff");
  SendContext(&use, 5);
  EXPECT_THAT(use.Uuids(), IsEmpty());
  for (uint32_t ordinal = 0; ordinal < 1000; ++ordinal) Tell(&use, ordinal, kFirst);
  EXPECT_EQ(use.Uuids().size(), 64u);
  Tell(&use, 0, kSecond);
  EXPECT_TRUE(use.Uses(kSecond)) << "one that is known may be told anew";
}

}  // namespace
}  // namespace utlz
