// At which places of the program the GPU stands idle, of all its steps.
#include "collector/diagnosis/gap_facts.h"

#include <gtest/gtest.h>

#include "collector/analysis/analyze.h"
#include "collector/steps/step_summary.h"
#include "tests/support/uneven_windows.h"

namespace utlz {
namespace {

// Most of the wait is between steps; of the traced steps alone it is at both places.
TEST(GapFactsTest, PlacesAreOfTheSameStepsAsTheMean) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(KernelNames(UnevenWindows::kKernels));
  UnevenWindows program(&run);
  RunDenseThenSparse({400 * kMicrosecond, 0, 600 * kMicrosecond, 0},
                     {1200 * kMicrosecond, 0, 150 * kMicrosecond, 0}, &program);
  run.EndRun(program.now_ns());
  const RunState& state = run.intake().Advance();
  Summary summary;
  const Analysis analysis = Analyze(state, SummarizeSteps(state, &summary));
  const double step_ns = summary.steps().time_mean_ns();
  const GapFacts facts = GatherGaps(state, analysis, step_ns);
  const DevicePart& part = analysis.devices[0].part;
  const double steps = part.TimeNs() / step_ns;
  EXPECT_NEAR(facts.between_steps_ns, steps * program.TrueWaitNs(0),
              0.005 * facts.between_steps_ns);
  EXPECT_NEAR(facts.inside_ns, steps * program.TrueWaitNs(2), 0.005 * facts.inside_ns);
  EXPECT_EQ(facts.first_calls_ns, 0);
  EXPECT_NEAR(facts.between_steps_ns + facts.inside_ns,
              part.content.TimeNs(TimeCategory::kOtherGap), 1);
  EXPECT_NEAR(facts.between_steps.gaps, steps, 0.01 * steps);
}

}  // namespace
}  // namespace utlz
