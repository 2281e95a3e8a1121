#include "collector/model/counter_precision.h"

#include <gtest/gtest.h>

#include "tests/unit/model/counted_run.h"

namespace utlz {
namespace {

TEST(CounterPrecisionTest, IsTheWidestIntervalOfAKernelThatMatters) {
  CountedRun run;
  const Summary summary = run.Run();
  const auto precisions = run.frames().model().CounterPrecisions();
  ASSERT_EQ(precisions.size(), 1u);
  EXPECT_EQ(precisions[0].device_uuid, RunBuilder::Uuid());
  EXPECT_EQ(precisions[0].samples, summary.capture().samples());
  EXPECT_GT(precisions[0].imprecision, 0);
  EXPECT_LT(precisions[0].imprecision, 0.05);
}

TEST(CounterPrecisionTest, FewSamplesTellLess) {
  CountedRun many;
  many.Run();
  CountedRun few;
  few.SampleUntil(8);
  few.Run();
  ASSERT_EQ(few.frames().model().CounterPrecisions().size(), 1u);
  EXPECT_GT(few.frames().model().CounterPrecisions()[0].imprecision,
            many.frames().model().CounterPrecisions()[0].imprecision);
}

TEST(CounterPrecisionTest, NothingIsSaidOfAGpuThatIsNotSampled) {
  CountedRun run;
  run.SampleUntil(0);
  run.Run();
  EXPECT_TRUE(run.frames().model().CounterPrecisions().empty());
}

// A kernel of another process, which takes a fifth of the time after sampling has ended.
TEST(CounterPrecisionTest, AKernelThatMattersAndIsNotKnownCountsFull) {
  CountedRun run;
  run.frames().StartProcess(2);
  run.frames().SendKernels({"late_c"}, 2);
  run.frames().SendLaunches(
      {RunBuilder::LaunchAt(CountedRun::kRepetitions * CountedRun::kStepNs, 8'000'000, 0)}, 2);
  run.Run();
  ASSERT_EQ(run.frames().model().CounterPrecisions().size(), 1u);
  EXPECT_EQ(run.frames().model().CounterPrecisions()[0].imprecision, 1);
}

}  // namespace
}  // namespace utlz
