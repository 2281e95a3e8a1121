// Counters see what a GPU does, recorded or not.
#include "collector/analysis/unrecorded_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/text/number_text.h"
#include "tests/support/counted_run.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kNotice[] = "where no kernel was recorded";

TEST(UnrecordedWorkTest, ARunWhoseLaunchesAreAllRecordedHasNone) {
  CountedRun run;
  const Summary summary = run.Run();
  EXPECT_THAT(summary.run().notices(), Not(Contains(HasSubstr(kNotice))));
  EXPECT_THAT(summary.verdict(), HasSubstr("busy"));
  EXPECT_TRUE(summary.has_ladder());
  EXPECT_LT(summary.devices(0).unrecorded_work_share(), 0.01);
}

TEST(UnrecordedWorkTest, LaunchesWithoutARecordAreNoIdleTime) {
  CountedRun run;
  run.LeaveOutSecondFrom(100);
  const Summary summary = run.Run();
  // B ran 300 times without a record; A and B ran 400 times each, for as long: 37.5 %, and a little
  // more as samples at the edges of A are left out with B.
  const double share = summary.devices(0).unrecorded_work_share();
  EXPECT_NEAR(share, 0.39, 0.04);
  const std::string text = PercentText(share);
  EXPECT_THAT(summary.run().notices(), Contains(HasSubstr(text + " of all that they did")));
  EXPECT_THAT(summary.verdict(), HasSubstr(text + " of its work is in no record"));
  EXPECT_THAT(summary.trust(), HasSubstr(text + " of the GPU's work is in no record"));
  EXPECT_THAT(summary.next_command(), HasSubstr("--overhead-budget unlimited"));
  EXPECT_FALSE(summary.has_problem());
  EXPECT_FALSE(summary.has_ladder());
  EXPECT_THAT(summary.findings(), IsEmpty());
}

TEST(UnrecordedWorkTest, OthersMayHaveDoneIt) {
  CountedRun run;
  run.LeaveOutSecondFrom(100);
  // NVML counts a process that is not of the run, twice in a row.
  DeviceTotalsBatch totals;
  totals.set_device_uuid(RunBuilder::Uuid('A'));
  totals.set_compute_processes(2);
  for (int i = 0; i < 2; ++i) run.frames().Send(0, FRAME_DEVICE_TOTALS, totals);
  const Summary summary = run.Run();
  EXPECT_THAT(summary.run().notices(), Not(Contains(HasSubstr(kNotice))));
  EXPECT_THAT(summary.run().notices(), Contains(HasSubstr("not traced here")));
  EXPECT_FALSE(summary.devices(0).has_unrecorded_work_share());
}

Attribution Counted(double attributed, double idle, double unattributed, double sampled_ns) {
  Attribution attribution;
  attribution.totals[METRIC_SM_CYCLES_ACTIVE] =
      CounterTotal{attributed + idle + unattributed, attributed, idle, unattributed};
  attribution.sampled_ns[METRIC_SM_CYCLES_ACTIVE] = sampled_ns;
  return attribution;
}

TEST(UnrecordedWorkTest, TheShareNeedsEnoughSamples) {
  EXPECT_DOUBLE_EQ(UnrecordedWorkShare(Counted(60, 30, 10, 100e6)).value(), 0.4);
  EXPECT_FALSE(UnrecordedWorkShare(Counted(60, 30, 10, 1e6)).has_value());
  EXPECT_FALSE(UnrecordedWorkShare(Counted(0, 0, 0, 100e6)).has_value());
  EXPECT_FALSE(UnrecordedWorkShare(Attribution()).has_value());
}

}  // namespace
}  // namespace utlz
