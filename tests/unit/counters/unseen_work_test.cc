// What a GPU does at the beginning of a window and nobody recorded is no idle time.
#include "collector/counters/unseen_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/counted_run.h"

namespace utlz {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSampleNs = 10'000;
constexpr double kCyclesOfSample = 10'000;
constexpr uint32_t kSet = 1;
constexpr uint32_t kMain = 7;
constexpr uint32_t kSide = 8;

// A window opens at 100 ms. Times in milliseconds.
class UnseenWorkTest : public testing::Test {
 protected:
  UnseenWorkTest() {
    attribution_.AddMetricSet(CountedSet(kSet, "device", kSampleNs), 100, {});
    activities_.push_back(At(10, 100, ActivityKind::kUntraced, 0));
  }

  static Activity At(uint64_t start_ms, uint64_t end_ms, ActivityKind kind, uint32_t stream,
                     uint16_t source = 1) {
    return {.start_ns = start_ms * kMs,
            .end_ns = end_ms * kMs,
            .kernel = kNoKernel,
            .stream = stream,
            .context = 1,
            .source = source,
            .kind = kind};
  }
  void Run(uint64_t start_ms, uint64_t end_ms, uint32_t stream = kMain, uint16_t source = 1) {
    activities_.push_back(At(start_ms, end_ms, ActivityKind::kCompute, stream, source));
  }
  void Sample(uint64_t start_ms, uint64_t end_ms, double active_share) {
    for (uint64_t at_ns = start_ms * kMs; at_ns < end_ms * kMs; at_ns += kSampleNs) {
      const std::vector<double> row = {0, 0, 0, active_share * kCyclesOfSample, kCyclesOfSample};
      attribution_.AddSample(kSet, at_ns, at_ns + kSampleNs, row);
    }
  }
  double EndMs() const {
    return static_cast<double>(
               EndOfUnseenWork(activities_.front(), activities_, {1, kMain}, attribution_)) /
           kMs;
  }

  AttributionFeed attribution_;
  std::vector<Activity> activities_;
};

TEST_F(UnseenWorkTest, ItEndsWithTheFirstRecord) {
  Sample(100, 130, 0.8);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 117);
}

TEST_F(UnseenWorkTest, TheGpuMayHaveNothingToDoAfterIt) {
  Sample(100, 112, 0.8);
  Sample(112, 117, 0);
  Sample(117, 130, 0.8);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 112);
}

TEST_F(UnseenWorkTest, AGpuThatIdlesHasNone) {
  Sample(100, 117, 0);
  Sample(117, 130, 0.8);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 100);
}

TEST_F(UnseenWorkTest, SamplesMayBeginAfterTheWindow) {
  Sample(110, 130, 0.8);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 117);
}

TEST_F(UnseenWorkTest, FewSamplesTellNothing) {
  Sample(114, 130, 0.8);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 100);
}

// It runs what was launched in the window, while the other has still to do what came before.
TEST_F(UnseenWorkTest, AnotherStreamDoesNotEndIt) {
  Sample(100, 130, 0.8);
  Run(101, 102, kSide);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 117);
}

TEST_F(UnseenWorkTest, WorkOfAnotherStreamThatWasRecordedIsSeen) {
  Sample(100, 130, 0.8);
  Run(100, 110, kSide);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 100);
}

TEST_F(UnseenWorkTest, WithoutTheBusiestStreamItEndsWithTheFirstRecord) {
  Sample(100, 130, 0.8);
  Run(110, 112, kSide);
  EXPECT_EQ(EndMs(), 110);
}

TEST_F(UnseenWorkTest, AWindowWithoutARecordShowsNoEnd) {
  Sample(100, 130, 0.8);
  activities_.push_back(At(110, 112, ActivityKind::kUntraced, 0));
  Run(117, 120);
  EXPECT_EQ(EndMs(), 100);
}

TEST_F(UnseenWorkTest, AnotherProcessMayHaveWorked) {
  Sample(100, 130, 0.8);
  Run(105, 106, kMain, 2);
  Run(117, 120);
  EXPECT_EQ(EndMs(), 100);
}

// Of 400 steps those from the 100th to the 200th were not traced. What was launched before the
// window ran up to the 300th.
DeviceSummary RunAhead(bool sampled) {
  CountedRun run;
  run.PauseTracing(100, 200, 300);
  if (!sampled) run.SampleUntil(100);
  return run.Run().devices(0);
}

double TracedSteps(const DeviceSummary& device) {
  return static_cast<double>(device.run_traced_ns()) / CountedRun::kStepNs;
}

TEST(RunAheadTest, UnseenWorkIsNoIdleTimeOfTheGpu) {
  const DeviceSummary device = RunAhead(true);
  EXPECT_NEAR(TracedSteps(device), 200, 1);
  EXPECT_LT(device.unrecorded_work_share(), 0.01);
  EXPECT_NEAR(TracedSteps(RunAhead(false)), 300, 1) << "nothing else shows it";
}

}  // namespace
}  // namespace utlz
