// What reports say of healthy loads as people run them: steps of unequal length, evaluations,
// several streams and processes, bursts of requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bench/diagnosis/causes.h"
#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/everyday_drafts.h"
#include "bench/diagnosis/program_drafts.h"
#include "bench/diagnosis/run_writer.h"
#include "bench/diagnosis/sharded_drafts.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kEverydaySeed = 3;

struct Reported {
  double step_ns = 0;  // as planned; 0: there are no steps
  Summary summary;
};

class EverydayLoadsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    absl::StatusOr<RecordedLoad> load = ReadRecordedLoad(UTLZ_RECORDING);
    ASSERT_TRUE(load.ok()) << load.status();
    loads_ = new std::vector<RecordedLoad>{*std::move(load)};
  }
  static void TearDownTestSuite() { delete loads_; }

  // Those whose kernels the demo's recording holds.
  static std::vector<const char*> PossibleLoads() {
    std::vector<const char*> names;
    for (const char* name : EverydayLoads()) {
      if (HealthyDraft(name, Sorted(*loads_)).has_value()) names.push_back(name);
    }
    EXPECT_GE(names.size(), 10u);
    return names;
  }

  // The same of programs of several phases, and of models divided among GPUs.
  static std::vector<const char*> PossiblePrograms() {
    std::vector<const char*> names;
    for (const auto* all : {&ProgramLoads(), &ShardedLoads()}) {
      for (const char* name : *all) {
        if (HealthyDraft(name, Sorted(*loads_)).has_value()) names.push_back(name);
      }
    }
    EXPECT_GE(names.size(), 7u);
    return names;
  }

  // Of the healthy load, with a cause of `causes.h` at its threshold where one is named.
  Reported Report(const std::string& name, const std::string& cause_name = {}) {
    std::optional<Draft> draft = HealthyDraft(name, Sorted(*loads_));
    EXPECT_TRUE(draft.has_value()) << name;
    for (const Cause& cause : Causes()) {
      if (cause.name == cause_name) cause.plant(1.01 * cause.threshold, &*draft);
    }
    const auto steps = static_cast<double>(draft->ranks.front().size());
    const double known_ns =
        draft->levels.empty() ? draft->usual_step_ns : draft->levels.front().step_ns;
    const bool has_steps = draft->has_steps;
    const PlannedRun run = Planned(*std::move(draft), kEverydaySeed);
    Reported reported;
    reported.step_ns =
        known_ns > 0 ? known_ns : static_cast<double>(run.end_ns - run.steps_start_ns) / steps;
    if (!has_steps) reported.step_ns = 0;
    reported.summary = SummaryOf(run);
    return reported;
  }

  Summary SummaryOf(const PlannedRun& run) {
    const std::string path = folder_.File("load.utlz");
    EXPECT_TRUE(WritePlannedRun(run, path).ok());
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
    EXPECT_TRUE(reader.ok()) << reader.status();
    RunIntake intake;
    FrameView frame;
    while (reader->Next(&frame)) intake.Consume(frame.source, frame.type, frame.payload);
    return Summarize(intake.Advance());
  }

  TemporaryFolder folder_;
  static std::vector<RecordedLoad>* loads_;
};

std::vector<RecordedLoad>* EverydayLoadsTest::loads_ = nullptr;

const LadderRung* RungOf(const Summary& summary, const std::string& name) {
  for (const LadderRung& rung : summary.ladder().rungs()) {
    if (rung.name() == name) return &rung;
  }
  return nullptr;
}

TEST_F(EverydayLoadsTest, HaveStepsAndNoFindings) {
  for (const char* name : PossibleLoads()) {
    SCOPED_TRACE(name);
    const Reported reported = Report(name);
    const StepsSummary& steps = reported.summary.steps();
    EXPECT_NEAR(steps.time_p50_ns(), reported.step_ns, 0.05 * reported.step_ns);
    for (const FindingSummary& finding : reported.summary.findings()) {
      EXPECT_TRUE(finding.below_threshold()) << finding.rule() << " " << finding.evidence();
    }
  }
}

TEST_F(EverydayLoadsTest, ProgramsHaveTheirStepsAndNoFindings) {
  for (const char* name : PossiblePrograms()) {
    SCOPED_TRACE(name);
    const Reported reported = Report(name);
    const StepsSummary& steps = reported.summary.steps();
    EXPECT_NEAR(steps.time_mean_ns(), reported.step_ns, 0.03 * reported.step_ns);
    for (const FindingSummary& finding : reported.summary.findings()) {
      EXPECT_TRUE(finding.below_threshold()) << finding.rule() << " " << finding.evidence();
    }
  }
}

TEST_F(EverydayLoadsTest, CommunicationThatNothingHidesIsNamedByItsKind) {
  const struct {
    const char* base;
    const char* cause;
    const char* kind;
  } loads[] = {{"prefetched_shards", "late_gathers", "most of it in AllGather"},
               {"pipeline", "pipeline_bubbles", "most of it in SendRecv"}};
  for (const auto& load : loads) {
    SCOPED_TRACE(load.cause);
    const Summary summary = Report(load.base, load.cause).summary;
    ASSERT_GE(summary.findings_size(), 1);
    EXPECT_EQ(summary.findings(0).rule(), "exposed_communication");
    EXPECT_THAT(summary.findings(0).evidence(), HasSubstr(load.kind));
    EXPECT_THAT(summary.verdict(), HasSubstr("compute alike"));
  }
}

// The second GPU stands idle while the first one copies: no fault of the host's.
TEST_F(EverydayLoadsTest, CopiesBetweenGpusOfOneProcessAreNamedWithTheWaitsForThem) {
  const Summary summary = Report("data_parallel", "peer_copies").summary;
  ASSERT_GE(summary.findings_size(), 1);
  EXPECT_EQ(summary.findings(0).rule(), "peer_copies");
  EXPECT_NEAR(summary.findings(0).gain_share(), 0.05, 0.005);
}

// What a GPU does of its FLOPs in a time cannot be done in less than that share of it.
TEST_F(EverydayLoadsTest, NoLadderLeadsBelowWhatTheFlopsNeed) {
  for (const char* name : PossibleLoads()) {
    SCOPED_TRACE(name);
    const Summary summary = Report(name).summary;
    const LadderRung* peak = RungOf(summary, "at_peak");
    if (peak == nullptr || !summary.devices(0).has_hfu()) continue;
    const double now_ns = RungOf(summary, "now")->time_ns();
    EXPECT_NEAR(peak->time_ns() / now_ns, summary.devices(0).hfu(), 0.02);
  }
}

TEST_F(EverydayLoadsTest, TimesOfKernelsSumToTheTimeInWhichSomeRan) {
  for (const char* name : {"two_streams", "one_gpu", "overlapped_copies"}) {
    SCOPED_TRACE(name);
    const Summary summary = Report(name).summary;
    double kernels_ns = 0;
    for (const KernelSummary& kernel : summary.kernels()) {
      kernels_ns += kernel.time_ns() * static_cast<double>(kernel.launches_traced()) /
                    static_cast<double>(kernel.launches());
    }
    const auto busy_ns = static_cast<double>(summary.devices(0).kernel_time_ns());
    EXPECT_NEAR(kernels_ns, busy_ns, 0.01 * busy_ns);
    double processes_ns = 0;
    for (const ProcessSummary& process : summary.processes()) {
      processes_ns += static_cast<double>(process.kernel_time_ns());
    }
    EXPECT_NEAR(processes_ns, busy_ns, 0.01 * busy_ns);
  }
}

// Samples fall on some launches only, longer or shorter ones than most.
TEST_F(EverydayLoadsTest, KernelsOfUnevenLaunchesAreAsFarFromTheirRoofsAsTheyWerePlanned) {
  for (const char* name : {"experts", "lengths"}) {
    SCOPED_TRACE(name);
    int kernels = 0;
    const Summary summary = Report(name).summary;
    for (const KernelSummary& kernel : summary.kernels()) {
      if (kernel.short_name().find("nvjet") == std::string::npos) continue;
      EXPECT_NEAR(kernel.roofline_efficiency(), kGoodMatrix, 0.03) << kernel.short_name();
      EXPECT_LT(kernel.flops_error(), 0.03 * kernel.flops()) << kernel.short_name();
      ++kernels;
    }
    EXPECT_GE(kernels, 5);
  }
}

// The kernels of the steps are away meanwhile, as those of a prefill are for many tokens.
TEST_F(EverydayLoadsTest, AnEvaluationMakesNoCallOfGeneration) {
  const Summary summary = Report("evaluation").summary;
  for (const StepLevel& level : summary.steps().levels()) EXPECT_NE(level.name(), "call");
  EXPECT_EQ(summary.steps().slow_size(), 4) << "the last evaluation ends no step";
}

TEST_F(EverydayLoadsTest, IdleTimeBetweenBurstsIsNoFaultOfARequest) {
  const Summary summary = Report("bursts").summary;
  EXPECT_EQ(summary.steps().slow_size(), 0);
  EXPECT_GE(summary.steady_state().pauses(), 5u);
  // The generated GPU draws 610 W at work, and 110 W without.
  EXPECT_NEAR(summary.devices(0).power_watts(), 600, 30);
  EXPECT_NEAR(summary.efficiency().joules_per_step(),
              summary.devices(0).power_watts() * summary.steps().time_mean_ns() * 1e-9, 0.01);
}

// The budget is spent in the first half second: the steps that follow are not traced.
TEST_F(EverydayLoadsTest, TinyKernelsAreLaunchBoundByTheirShortGaps) {
  const Reported reported = Report("training", "tiny_kernels");
  const Summary& summary = reported.summary;
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_NEAR(summary.steps().time_mean_ns(), reported.step_ns, 0.03 * reported.step_ns);
  ASSERT_GE(summary.findings_size(), 1);
  EXPECT_EQ(summary.findings(0).rule(), "launch_bound");
  EXPECT_FALSE(summary.findings(0).below_threshold());
}

TEST_F(EverydayLoadsTest, CountersThatNobodyCanDivideAreNotWantingATime) {
  const Summary summary = Report("one_gpu").summary;
  ASSERT_EQ(summary.run().notices_size(), 1);
  EXPECT_THAT(summary.run().notices(0), HasSubstr("ran beside another's"));
  EXPECT_THAT(summary.trust(), Not(HasSubstr("hardly sampled")));
  EXPECT_FALSE(summary.has_next_command());
}

}  // namespace
}  // namespace utlz
