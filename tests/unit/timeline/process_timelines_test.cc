#include "collector/timeline/process_timelines.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

Activity MillisecondKernel(uint16_t source, uint64_t start_ns) {
  return {.start_ns = start_ns,
          .end_ns = start_ns + kMillisecondNs,
          .kernel = 7,
          .stream = 0,
          .context = 0,
          .source = source,
          .kind = ActivityKind::kCompute};
}

Activity UntracedOf(uint16_t source, uint64_t start_ns, uint64_t end_ns) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = kNoKernel,
          .stream = 0,
          .context = 0,
          .source = source,
          .kind = ActivityKind::kUntraced};
}

TEST(ProcessTimelinesTest, NothingIsKeptOfAProcessAlone) {
  ProcessTimelines timelines;
  for (uint64_t i = 0; i < 10; ++i) timelines.Add(MillisecondKernel(3, i * kMillisecondNs));
  timelines.Add(UntracedOf(4, 10 * kMillisecondNs, 20 * kMillisecondNs));
  EXPECT_EQ(timelines.Of(3), nullptr);
  EXPECT_EQ(timelines.Of(4), nullptr);
}

// Each launches a kernel of 1 ms every 4 ms. The first one's timeline begins with the second's.
TEST(ProcessTimelinesTest, EachHasItsOwnKernelsAndUntracedTime) {
  ProcessTimelines timelines;
  timelines.Add(MillisecondKernel(3, 0));
  for (uint64_t i = 1; i <= 100; ++i) {
    timelines.Add(MillisecondKernel(4, 4 * i * kMillisecondNs));
    timelines.Add(MillisecondKernel(3, (4 * i + 2) * kMillisecondNs));
  }
  timelines.Add(UntracedOf(4, 410 * kMillisecondNs, 450 * kMillisecondNs));
  timelines.AdvanceTo(1000 * kMillisecondNs);
  for (const uint32_t source : {3U, 4U}) {
    ASSERT_NE(timelines.Of(source), nullptr);
    const StretchContent content = timelines.Of(source)->ledger().Between(0, UINT64_MAX);
    EXPECT_EQ(content.operations, 100);
    EXPECT_NEAR(content.KernelNs(), 100 * kMillisecondNs, 1);
    EXPECT_NEAR(content.UntracedNs(), source == 4 ? 40 * kMillisecondNs : 0, 1);
    EXPECT_EQ(timelines.Of(source)->steps().Steps().size(), 99U);
  }
  EXPECT_EQ(timelines.Of(4U + 65536), nullptr);
}

TEST(ProcessTimelinesTest, OneThatLaunchesNoMoreMakesRoomForAnother) {
  ProcessTimelines timelines;
  uint64_t time_ns = 0;
  // The first one is known to be alone, and is not kept.
  for (uint16_t source = 0; source <= ProcessTimelines::kMost; ++source) {
    timelines.Add(MillisecondKernel(source, time_ns += kMillisecondNs));
  }
  timelines.Add(MillisecondKernel(100, time_ns += kMillisecondNs));
  EXPECT_EQ(timelines.Of(100), nullptr);
  for (uint16_t source = 2; source <= ProcessTimelines::kMost; ++source) {
    timelines.Add(MillisecondKernel(source, time_ns += ProcessTimelines::kForgottenNs / 4));
  }
  timelines.Add(MillisecondKernel(100, time_ns += kMillisecondNs));
  EXPECT_NE(timelines.Of(100), nullptr);
  EXPECT_EQ(timelines.Of(1), nullptr);
  EXPECT_NE(timelines.Of(2), nullptr);
}

}  // namespace
}  // namespace utlz
