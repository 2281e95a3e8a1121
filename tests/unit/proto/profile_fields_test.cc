// The numbers that the agent writes are those that protobuf reads.
#include "proto/profile_fields.h"

#include <gtest/gtest.h>

#include "proto/profile.pb.h"

namespace utlz {
namespace {

TEST(ProfileFields, AreThoseOfProtobuf) {
  EXPECT_EQ(wire::LaunchBatch::kBaseNs, LaunchBatch::kBaseNsFieldNumber);
  EXPECT_EQ(wire::LaunchBatch::kUntimedOperations, LaunchBatch::kUntimedOperationsFieldNumber);
  EXPECT_EQ(wire::Variants::kStaticSharedBytes, Variants::kStaticSharedBytesFieldNumber);
  EXPECT_EQ(wire::RangeBatch::kSetupNs, RangeBatch::kSetupNsFieldNumber);
  EXPECT_EQ(wire::RangeBatch::Range::kLaunches, RangeBatch::Range::kLaunchesFieldNumber);
  EXPECT_EQ(wire::AgentStatus::kFlushedUntilNs, AgentStatus::kFlushedUntilNsFieldNumber);
}

TEST(ProfileFields, EnumerationsAreThoseOfProtobuf) {
  EXPECT_EQ(static_cast<int>(wire::kFramePadding), static_cast<int>(FRAME_PADDING));
  EXPECT_EQ(static_cast<int>(wire::kFrameCommunicationCalls),
            static_cast<int>(FRAME_COMMUNICATION_CALLS));
  EXPECT_EQ(static_cast<int>(wire::kFrameDeviceCeilings), static_cast<int>(FRAME_DEVICE_CEILINGS));
  EXPECT_EQ(static_cast<int>(wire::kCopyHostPageable), static_cast<int>(COPY_HOST_PAGEABLE));
  EXPECT_EQ(static_cast<int>(wire::kVariantOverflow), static_cast<int>(VARIANT_OVERFLOW));
}

}  // namespace
}  // namespace utlz
