#include "collector/timeline/exposed_communication.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr ActivityMask kCommunication = MaskOf(ActivityKind::kCommunication);
constexpr ActivityMask kCompute = MaskOf(ActivityKind::kCompute);
constexpr ActivityMask kCopyToDevice = MaskOf(ActivityKind::kHostToDevice);

Activity Running(uint64_t start_ns, uint64_t end_ns, uint32_t kernel,
                 ActivityKind kind = ActivityKind::kCommunication) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = kernel,
          .stream = 1,
          .context = 1,
          .source = 1,
          .kind = kind};
}

TEST(ExposedCommunicationTest, IsTimeWithoutComputeBeside) {
  ExposedCommunication exposed;
  exposed.AddLaunch(Running(100, 200, 5));
  exposed.Add({100, 140, kCommunication});
  exposed.Add({140, 170, kCommunication | kCompute});
  exposed.Add({170, 180, kCommunication | kCopyToDevice});
  exposed.Add({180, 190, kCommunication | kUntracedMask});  // anything may have run
  exposed.Add({190, 200, kCommunication});
  exposed.Add({200, 300, kCompute});
  EXPECT_EQ(exposed.ExposedNs(5), 40 + 10 + 10);
  EXPECT_EQ(exposed.ExposedNs(6), 0);
}

TEST(ExposedCommunicationTest, IsDividedAmongThoseThatRunAtOnce) {
  ExposedCommunication exposed;
  exposed.AddLaunch(Running(0, 100, 5));
  exposed.AddLaunch(Running(0, 50, 6));
  exposed.Add({0, 50, kCommunication});
  exposed.Add({50, 100, kCommunication});
  EXPECT_EQ(exposed.ExposedNs(5), 25 + 50);
  EXPECT_EQ(exposed.ExposedNs(6), 25);
}

TEST(ExposedCommunicationTest, IsNotDividedWithCopies) {
  ExposedCommunication exposed;
  exposed.AddLaunch(Running(0, 100, 5));
  exposed.AddLaunch(Running(0, 100, kNoKernel, ActivityKind::kHostToDevice));
  exposed.Add({0, 100, kCommunication | kCopyToDevice});
  EXPECT_EQ(exposed.ExposedNs(5), 100);
}

TEST(ExposedCommunicationTest, TakesNoMoreThanItHasRoomFor) {
  ExposedCommunication exposed;
  constexpr auto kMost = static_cast<uint32_t>(ExposedCommunication::kMaxRunning);
  for (uint32_t kernel = 0; kernel <= kMost; ++kernel) exposed.AddLaunch(Running(0, kMost, kernel));
  exposed.Add({0, kMost, kCommunication});
  EXPECT_EQ(exposed.ExposedNs(kMost - 1), 1);
  EXPECT_EQ(exposed.ExposedNs(kMost), 0);
}

}  // namespace
}  // namespace utlz
