#include "tools/compare/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compare/run_maker.h"
#include "tools/compare/render_difference.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

std::vector<Summary> Runs(RunMaker& maker, int count, double step_ns) {
  std::vector<Summary> runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back(maker.Make({.step_ns = step_ns, .run_deviation_share = 0.003}));
  }
  return runs;
}

TEST(GateTest, TheSameSpeedPasses) {
  RunMaker maker(1);
  const GateResult result = Gate(Runs(maker, 5, 10e6), Runs(maker, 5, 10e6));
  EXPECT_EQ(result.outcome, GateOutcome::kPass) << result.reasons[0];
  EXPECT_EQ(result.measure, "step time");
  EXPECT_EQ(GateExitStatus(result.outcome), 0);
}

// The share after these words.
double ShareAfter(const std::string& text, const std::string& words) {
  const size_t found = text.find(words);
  if (found == std::string::npos) return NAN;
  std::string number = text.substr(found + words.size());
  const bool negative = number.starts_with("−");
  number.erase(0, negative ? std::string("−").size() : 1);
  return (negative ? -1 : 1) * std::stod(number) / 100;
}

// What is printed decides, as it was tested: a pass lies below its limit with all that is shown.
TEST(GateTest, TheBoundThatIsPrintedAgreesWithTheVerdict) {
  int decided[3] = {};
  for (int i = 0; i < 40; ++i) {
    RunMaker maker(100 + static_cast<uint32_t>(i));
    const int runs = 1 + i % 3;
    const double step_ns = 10e6 * (0.99 + 0.002 * i);
    const GateResult result = Gate(Runs(maker, runs, 10e6), Runs(maker, runs, step_ns));
    const std::string& text = result.reasons[0];
    SCOPED_TRACE(text);
    EXPECT_EQ(text.find("±"), std::string::npos);
    EXPECT_THAT(text, HasSubstr("at 95 %"));
    const double least = ShareAfter(text, "at least ");
    const double most = ShareAfter(text, "at most ");
    constexpr double kRounding = 0.0006;
    switch (result.outcome) {
      case GateOutcome::kPass:
        ++decided[0];
        EXPECT_LE(most, 0.03 + kRounding);
        EXPECT_TRUE(std::isnan(least));
        break;
      case GateOutcome::kRegression:
        ++decided[1];
        EXPECT_GE(least, 0.03 - kRounding);
        EXPECT_TRUE(std::isnan(most));
        break;
      default:
        ++decided[2];
        EXPECT_LE(least, 0.03 + kRounding);
        EXPECT_GE(most, 0.03 - kRounding);
    }
  }
  for (const int count : decided) EXPECT_GT(count, 3);
}

TEST(GateTest, FivePercentSlowerFails) {
  RunMaker maker(2);
  const GateResult result = Gate(Runs(maker, 5, 10e6), Runs(maker, 5, 10.5e6));
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  EXPECT_THAT(result.reasons[0], HasSubstr("more than the 3.0 % allowed"));
  EXPECT_EQ(GateExitStatus(result.outcome), 1);
}

TEST(GateTest, ASlowdownWithinTheLimitPasses) {
  RunMaker maker(3);
  EXPECT_EQ(Gate(Runs(maker, 6, 10e6), Runs(maker, 6, 10.1e6)).outcome, GateOutcome::kPass);
}

TEST(GateTest, FasterPasses) {
  RunMaker maker(4);
  EXPECT_EQ(Gate(Runs(maker, 1, 10e6), Runs(maker, 1, 7e6)).outcome, GateOutcome::kPass);
}

TEST(GateTest, ASlowStepOrTwoBlurTheMeanAndNotTheMedian) {
  RunMaker maker(14);
  Summary run = maker.Make({.step_ns = 10e6});
  StepsSummary* steps = run.mutable_steps();
  double more_ns = 0;
  for (const int slow : {steps->time_ns_size() / 3, steps->time_ns_size() / 2}) {
    more_ns += 12 * steps->time_ns(slow);
    steps->set_time_ns(slow, 13 * steps->time_ns(slow));
  }
  steps->set_time_mean_ns(steps->time_mean_ns() + more_ns / steps->time_ns_size());
  const GateResult result = Gate({run}, {run}, {.max_regression_share = 0.05});
  EXPECT_EQ(result.outcome, GateOutcome::kPass) << result.reasons[0];
  EXPECT_EQ(result.measure, "median step time");
  EXPECT_THAT(result.reasons[1], HasSubstr("Slow steps blur the mean"));
}

TEST(GateTest, OneRunASideCannotKeepATightLimit) {
  RunMaker maker(5);
  const GateResult result =
      Gate(Runs(maker, 1, 10e6), Runs(maker, 1, 10e6), {.max_regression_share = 0.005});
  EXPECT_EQ(result.outcome, GateOutcome::kInconclusive);
  EXPECT_THAT(result.reasons[0], HasSubstr("more runs"));
  EXPECT_EQ(GateExitStatus(result.outcome), 3);
}

// Slower, but whether by more than is allowed cannot be told.
TEST(GateTest, MoreThanAllowedWithinTheErrorIsNotTold) {
  RunMaker maker(15);
  const GateResult result = Gate(Runs(maker, 1, 10e6), Runs(maker, 1, 10.45e6));
  EXPECT_EQ(result.outcome, GateOutcome::kInconclusive) << result.reasons[0];
}

TEST(GateTest, RefusesOtherGpusClocksAndRungs) {
  RunMaker maker(6);
  const std::vector<Summary> baseline = Runs(maker, 1, 10e6);
  std::vector<Summary> candidate = Runs(maker, 1, 10e6);
  candidate[0].mutable_devices(0)->set_name("NVIDIA B200");
  GateResult result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kRefused);
  EXPECT_THAT(result.reasons[0], HasSubstr("NVIDIA B200 and NVIDIA H200"));
  EXPECT_EQ(Gate(baseline, candidate, {.allow_other_gpu = true}).outcome, GateOutcome::kPass);

  candidate = Runs(maker, 1, 10e6);
  candidate[0].mutable_devices(0)->set_sm_clock_hz(1.5e9);
  result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kRefused);
  EXPECT_THAT(result.reasons[0], HasSubstr("1.700 GHz in the baseline, 1.500 GHz"));
  EXPECT_THAT(result.reasons[0], HasSubstr("known to ± 13.86 MHz"));
  EXPECT_EQ(Gate(baseline, candidate, {.allow_other_clock = true}).outcome, GateOutcome::kPass);

  candidate = Runs(maker, 1, 10e6);
  candidate[0].mutable_capture()->set_counter_source(SOURCE_GPM);
  EXPECT_EQ(Gate(baseline, candidate).outcome, GateOutcome::kRefused);
  EXPECT_EQ(Gate(baseline, candidate, {.allow_other_source = true}).outcome, GateOutcome::kPass);
}

// As RefusesOtherGpusClocksAndRungs has it, but seen for so short that the clock may be the same.
TEST(GateTest, RefusesRunsOfDifferentPrograms) {
  RunMaker maker(21);
  const std::vector<Summary> baseline = Runs(maker, 2, 10e6);
  std::vector<Summary> candidate = Runs(maker, 2, 9e6);
  for (Summary& run : candidate) {
    for (KernelSummary& kernel : *run.mutable_kernels()) {
      kernel.set_mangled_name("other_" + std::to_string(kernel.id()));
      kernel.set_name(kernel.mangled_name());
      kernel.set_launches(3 * kernel.launches() + 1);
      kernel.clear_flops();
    }
  }
  GateResult result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kOtherProgram);
  EXPECT_THAT(result.reasons.front(), HasSubstr("no kernel in common"));
  EXPECT_THAT(result.reasons.back(), HasSubstr("--allow-other-program"));
  EXPECT_EQ(GateExitStatus(result.outcome), 5) << "2 is a wrong option's";
  result = Gate(baseline, candidate, {.allow_other_program = true});
  EXPECT_EQ(result.outcome, GateOutcome::kPass);
  EXPECT_THAT(result.reasons.back(), HasSubstr("no kernel in common"));
}

// One kernel of many, such as a copy, is in both.
TEST(GateTest, AProgramThatIsFasterAndAnotherDoesNotPass) {
  RunMaker maker(23);
  const std::vector<Summary> baseline = Runs(maker, 2, 10e6);
  std::vector<Summary> candidate = Runs(maker, 2, 5e6);
  for (Summary& run : candidate) {
    run.mutable_run()->clear_command();
    run.mutable_run()->add_command("python");
    run.mutable_run()->add_command("other\x1b.py");
    bool first = true;
    for (KernelSummary& kernel : *run.mutable_kernels()) {
      if (std::exchange(first, false)) continue;
      kernel.set_mangled_name("other_" + std::to_string(kernel.id()));
      kernel.set_name(kernel.mangled_name());
      kernel.set_launches(3 * kernel.launches() + 1);
      kernel.clear_flops();
    }
  }
  std::vector<Summary> named = baseline;
  for (Summary& run : named) {
    run.mutable_run()->clear_command();
    run.mutable_run()->add_command("python train.py");
  }
  GateResult result = Gate(named, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kOtherProgram);
  EXPECT_THAT(result.reasons.front(), HasSubstr("may be different programs"));
  EXPECT_THAT(result.reasons.front(),
              HasSubstr("The baseline ran 'python train.py', the candidate 'python other?.py'."));
  EXPECT_TRUE(result.difference.kernels.empty());
  EXPECT_THAT(RenderGateText(result), ::testing::StartsWith("OTHER PROGRAM\n"));
  EXPECT_THAT(RenderGateMarkdown(result), HasSubstr("another program"));
  EXPECT_THAT(RenderGateJson(result), HasSubstr("\"outcome\": \"other_program\""));
  EXPECT_THAT(RenderGateJson(result), HasSubstr("\"exit_status\": 5"));
  result = Gate(named, candidate, {.allow_other_program = true});
  EXPECT_EQ(result.outcome, GateOutcome::kPass);
  EXPECT_THAT(result.reasons.back(), HasSubstr("may be different programs"));
}

TEST(GateTest, OtherProgramsAreSaidFirst) {
  RunMaker maker(22);
  const std::vector<Summary> baseline = Runs(maker, 1, 10e6);
  std::vector<Summary> candidate = baseline;
  bool first = true;
  for (KernelSummary& kernel : *candidate[0].mutable_kernels()) {
    if (!std::exchange(first, false)) {
      kernel.set_mangled_name("other_" + std::to_string(kernel.id()));
      kernel.set_name(kernel.mangled_name());
      kernel.set_launches(3 * kernel.launches() + 1);
      kernel.clear_flops();
    }
  }
  candidate[0].mutable_run()->set_exit_status(1);
  const GateResult result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kRefused);
  EXPECT_THAT(result.reasons.front(), HasSubstr("may be different programs"));
  EXPECT_THAT(result.reasons.back(), HasSubstr("failed"));
}

TEST(GateTest, AClockThatIsHardlyKnownRefusesNothing) {
  RunMaker maker(8);
  const std::vector<Summary> baseline = Runs(maker, 1, 10e6);
  std::vector<Summary> candidate = Runs(maker, 1, 10e6);
  DeviceSummary* device = candidate[0].mutable_devices(0);
  device->set_sm_clock_hz(1.5e9);
  device->set_sm_clock_error_hz(0.15e9);
  GateResult result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kPass) << result.reasons[0];
  EXPECT_THAT(result.reasons.back(),
              HasSubstr("no more than so few readings leave open: 1.700 GHz"));
  EXPECT_THAT(result.reasons.back(), HasSubstr("known to ± 294.2 MHz"));
  device->set_sm_clock_error_hz(0.05e9);
  EXPECT_EQ(Gate(baseline, candidate).outcome, GateOutcome::kRefused);
  device->clear_sm_clock_error_hz();
  result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kPass);
  EXPECT_THAT(result.reasons.back(), HasSubstr("was not recorded"));
}

TEST(GateTest, ClocksWithinTheToleranceAreNotSpokenOf) {
  RunMaker maker(9);
  const std::vector<Summary> baseline = Runs(maker, 1, 10e6);
  std::vector<Summary> candidate = Runs(maker, 1, 10e6);
  candidate[0].mutable_devices(0)->set_sm_clock_hz(1.7e9 * 1.015);
  const GateResult result = Gate(baseline, candidate);
  EXPECT_EQ(result.outcome, GateOutcome::kPass);
  EXPECT_EQ(result.reasons.size(), 1u) << result.reasons.back();
}

// Clocks that differ between runs of one side tell how well a side's clock is known.
TEST(GateTest, ClocksThatVaryFromRunToRunDifferOnlyBeyondThat) {
  RunMaker maker(10);
  std::vector<Summary> baseline = Runs(maker, 4, 10e6);
  std::vector<Summary> candidate = Runs(maker, 4, 10e6);
  const double varying[] = {1.60e9, 1.78e9, 1.65e9, 1.77e9};
  for (size_t i = 0; i < 4; ++i) {
    baseline[i].mutable_devices(0)->set_sm_clock_hz(varying[i]);
    candidate[i].mutable_devices(0)->set_sm_clock_hz(0.97 * varying[3 - i]);
  }
  EXPECT_NE(Gate(baseline, candidate).outcome, GateOutcome::kRefused);
  for (size_t i = 0; i < 4; ++i) {
    candidate[i].mutable_devices(0)->set_sm_clock_hz(0.97 * varying[i]);
  }
  EXPECT_EQ(Gate(baseline, candidate).outcome, GateOutcome::kRefused) << "each pair differs";
}

TEST(GateTest, RefusesRunsThatFailedAndSidesWithoutRuns) {
  RunMaker maker(7);
  const std::vector<Summary> baseline = Runs(maker, 1, 10e6);
  std::vector<Summary> candidate = Runs(maker, 1, 10e6);
  candidate[0].mutable_run()->set_exit_status(1);
  EXPECT_EQ(Gate(baseline, candidate).outcome, GateOutcome::kRefused);
  EXPECT_EQ(Gate(baseline, {}).outcome, GateOutcome::kRefused);
  EXPECT_EQ(Gate({Summary()}, {Summary()}).outcome, GateOutcome::kRefused);
}

}  // namespace
}  // namespace utlz
