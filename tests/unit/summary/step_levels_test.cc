// Calls of many steps and repetitions within a step, in a program that generates text: each call
// begins with kernels that come back only in the next one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/windowed_run.h"

namespace utlz {
namespace {

constexpr uint32_t kDecoderLayers = 20;
constexpr uint32_t kLayerKernels = 5;
constexpr uint32_t kFirstLayerKernel = 1;
constexpr uint32_t kLastKernel = kFirstLayerKernel + kLayerKernels;
constexpr uint32_t kFirstPrefillKernel = kLastKernel + 1;
constexpr uint32_t kPrefillKernels = 4;
constexpr uint32_t kKernels = kFirstPrefillKernel + kPrefillKernels;
constexpr uint64_t kLaunchNs = WindowedRun::kLaunchNs;
constexpr int kCalledSteps = 200;

// Launches of one call of `steps` steps, by kernel.
std::vector<uint32_t> CallOf(int steps) {
  std::vector<uint32_t> kernels;
  for (uint32_t i = 0; i < kPrefillKernels; ++i) kernels.push_back(kFirstPrefillKernel + i);
  for (int step = 0; step < steps; ++step) {
    kernels.push_back(0);
    for (uint32_t layer = 0; layer < kDecoderLayers; ++layer) {
      for (uint32_t i = 0; i < kLayerKernels; ++i) kernels.push_back(kFirstLayerKernel + i);
    }
    kernels.push_back(kLastKernel);
  }
  return kernels;
}

std::vector<std::string> NumberedKernels() {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kKernels; ++i) names.push_back("kernel_" + std::to_string(i));
  return names;
}

class Generation : public WindowedRun {
 public:
  explicit Generation(const SummaryOptions& options = {})
      : WindowedRun(NumberedKernels(), options) {}

  // The kernels that only a call's beginning has take so many times as long as others.
  void PrefillTakes(double times) {
    for (uint32_t i = 0; i < kPrefillKernels; ++i) KernelTakes(kFirstPrefillKernel + i, times);
  }

  StepsSummary End() { return EndRun().steps(); }
};

const StepLevel* LevelNamed(const StepsSummary& steps, const std::string& name) {
  for (const StepLevel& level : steps.levels()) {
    if (level.name() == name) return &level;
  }
  return nullptr;
}

TEST(StepLevelsTest, FindsCallsAndRepetitionsWhereAllIsTraced) {
  Generation generation;
  std::vector<uint32_t> kernels;
  for (int call = 0; call < 12; ++call) {
    const std::vector<uint32_t> one = CallOf(kCalledSteps);
    kernels.insert(kernels.end(), one.begin(), one.end());
  }
  generation.Trace(kernels);
  const StepsSummary steps = generation.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  EXPECT_NEAR(call->count(), 12, 0.1);
  EXPECT_EQ(call->inner(), kCalledSteps);
  const StepLevel* step = LevelNamed(steps, "step");
  ASSERT_NE(step, nullptr);
  EXPECT_NEAR(step->count(), 12 * kCalledSteps, 1);
  EXPECT_EQ(step->inner(), kDecoderLayers);
  const StepLevel* layer = LevelNamed(steps, "repetition");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->launches(), kLayerKernels);
  EXPECT_NEAR(layer->time_p50_ns(), kLayerKernels * kLaunchNs, 1);
}

// Four calls and more lie in the launches in which the step is searched.
TEST(StepLevelsTest, AStepOfShortCallsIsNotTheCall) {
  Generation generation;
  std::vector<uint32_t> kernels;
  for (int call = 0; call < 30; ++call) {
    const std::vector<uint32_t> one = CallOf(16);
    kernels.insert(kernels.end(), one.begin(), one.end());
  }
  generation.Trace(kernels);
  const StepsSummary steps = generation.End();
  ASSERT_NE(LevelNamed(steps, "call"), nullptr);
  EXPECT_NEAR(LevelNamed(steps, "call")->count(), 30, 0.1);
  EXPECT_EQ(LevelNamed(steps, "call")->inner(), 16);
  EXPECT_EQ(LevelNamed(steps, "step")->inner(), kDecoderLayers);
}

// Of 40 calls three are seen to begin, and most steps lie between windows.
TEST(StepLevelsTest, CountsCallsAndStepsThatWereNotTraced) {
  Generation generation;
  const std::vector<uint32_t> one = CallOf(kCalledSteps);
  std::vector<uint32_t> three = one;
  three.insert(three.end(), one.begin(), one.end());
  three.insert(three.end(), one.begin(), one.end());
  generation.Trace(three);
  size_t calls = 3;
  for (const size_t untraced : {7u, 11u, 16u}) {
    generation.LeaveUntraced(untraced * one.size());
    generation.Trace(one);
    calls += untraced + 1;
  }
  const StepsSummary steps = generation.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  EXPECT_NEAR(call->count(), static_cast<double>(calls), 0.1);
  EXPECT_NEAR(LevelNamed(steps, "step")->count(), kCalledSteps * static_cast<double>(calls), 1);
}

constexpr int kFortyCalls = 40;

// Each window shows the end of one call and the beginning of the next, and so no call whole.
Summary CallsInPieces(const SummaryOptions& options) {
  Generation generation(options);
  const size_t whole = CallOf(kCalledSteps).size();
  const std::vector<uint32_t> beginning = CallOf(kCalledSteps / 4);
  std::vector<uint32_t> piece(beginning.begin() + kPrefillKernels, beginning.end());
  generation.LeaveUntraced(whole - piece.size());
  piece.insert(piece.end(), beginning.begin(), beginning.end());
  generation.Trace(piece);
  int calls = 2;
  for (const size_t others : {0u, 7u, 11u, 3u, 8u, 3u}) {
    generation.LeaveUntraced(others * whole + whole - piece.size());
    generation.Trace(piece);
    calls += static_cast<int>(others) + 1;
  }
  generation.LeaveUntraced(whole - beginning.size());
  EXPECT_EQ(calls, kFortyCalls);
  return generation.EndRun();
}

// Work is given for what --steps counts, which need not be the steps.
TEST(StepLevelsTest, WorkOfACallIsDividedByItsSteps) {
  SummaryOptions options;
  options.work.set_tokens_per_step(4 * kCalledSteps);
  options.work.set_items_per_step(1);
  options.work.set_item_name("answers");
  options.work.set_price_per_hour(3.6);
  const auto with_steps = [&](double steps) {
    options.steps = steps;
    return CallsInPieces(options);
  };
  const Summary calls = with_steps(kFortyCalls);
  ASSERT_EQ(calls.steps().level(), "step");
  const StepLevel* call = LevelNamed(calls.steps(), "call");
  ASSERT_NE(call, nullptr) << "no call was traced whole";
  ASSERT_NEAR(call->inner(), kCalledSteps, 1e-9);
  const double step_seconds = calls.steps().time_mean_ns() * 1e-9;
  EXPECT_NEAR(calls.efficiency().tokens_per_second() * step_seconds, 4, 1e-6);
  EXPECT_NEAR(calls.efficiency().tokens_per_step(), 4, 1e-9);
  EXPECT_NEAR(calls.efficiency().items_per_second() * step_seconds * kCalledSteps, 1, 1e-6);
  EXPECT_NEAR(calls.efficiency().cost_per_token(), 1e-3 * step_seconds / 4, 1e-12);
  EXPECT_NE(calls.steps().expected_note().find("taken as those of a call"), std::string::npos)
      << calls.steps().expected_note();
  const Summary steps = with_steps(kFortyCalls * kCalledSteps);
  EXPECT_NEAR(steps.efficiency().tokens_per_step(), 4 * kCalledSteps, 1e-9);
  const Summary none = with_steps(300);
  EXPECT_FALSE(none.efficiency().has_tokens_per_second()) << "nobody knows of what they are";
  EXPECT_FALSE(none.efficiency().has_items_per_second());
  EXPECT_FALSE(none.efficiency().has_cost_per_token());
  EXPECT_TRUE(none.efficiency().has_steps_per_second());
  EXPECT_NE(none.efficiency().mfu_note().find("no MFU and no throughput"), std::string::npos);
}

// Tracing makes a step a quarter longer; most of them nobody traced.
TEST(StepLevelsTest, AStepLastsAsLongAsThoseThatWereNotTraced) {
  Generation generation;
  const std::vector<uint32_t> one = CallOf(kCalledSteps);
  for (int i = 0; i < 8; ++i) {
    generation.Trace(one, 1.25);
    generation.LeaveUntraced(9 * one.size());
  }
  generation.Trace(one, 1.25);
  const StepsSummary steps = generation.End();
  const double untraced_ns = static_cast<double>(one.size()) / kCalledSteps * kLaunchNs;
  EXPECT_NEAR(steps.time_mean_ns(), 1.03 * untraced_ns, 0.01 * untraced_ns);
  EXPECT_NEAR(steps.slowdown_time_ns(), 0.22 * untraced_ns, 0.02 * untraced_ns);
}

// Prefills after 170, 290, 210 … steps: no call is like another.
TEST(StepLevelsTest, CallsOfAnyLengthAreNoPeriod) {
  Generation generation;
  std::vector<uint32_t> kernels;
  for (const int length : {170, 290, 210, 340, 180, 230, 310}) {
    const std::vector<uint32_t> one = CallOf(length);
    kernels.insert(kernels.end(), one.begin(), one.end());
  }
  generation.Trace(kernels);
  const StepsSummary steps = generation.End();
  EXPECT_GT(steps.steps(), 100u);
  EXPECT_EQ(LevelNamed(steps, "call"), nullptr);
}

std::vector<uint32_t> Repeat(const std::vector<uint32_t>& one, int times) {
  std::vector<uint32_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), one.begin(), one.end());
  return all;
}

// One distance between two beginnings fits everything, unless nothing was missed between them.
TEST(StepLevelsTest, TwoCallsAreEnoughWhereNothingBetweenThemWasMissed) {
  Generation whole;
  whole.Trace(Repeat(CallOf(kCalledSteps), 2));
  const StepsSummary steps = whole.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  EXPECT_NEAR(call->count(), 2, 0.1);
  EXPECT_EQ(call->inner(), kCalledSteps);

  Generation missed;
  missed.Trace(CallOf(kCalledSteps));
  missed.LeaveUntraced(3 * CallOf(kCalledSteps).size());
  missed.Trace(CallOf(kCalledSteps));
  EXPECT_EQ(LevelNamed(missed.End(), "call"), nullptr);

  Generation cut;  // the second call is only a third of the first
  std::vector<uint32_t> kernels = CallOf(kCalledSteps);
  const std::vector<uint32_t> third = CallOf(kCalledSteps / 3);
  kernels.insert(kernels.end(), third.begin(), third.end());
  cut.Trace(kernels);
  EXPECT_EQ(LevelNamed(cut.End(), "call"), nullptr);
}

TEST(StepLevelsTest, ThePromptsStepIsToldApartFromThoseOfTokens) {
  constexpr double kTimes = 100;
  Generation generation;
  generation.PrefillTakes(kTimes);
  generation.Trace(Repeat(CallOf(kCalledSteps), 6));
  const StepsSummary steps = generation.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  const double token_ns = (2 + kDecoderLayers * kLayerKernels) * static_cast<double>(kLaunchNs);
  const double prefill_ns = token_ns + kPrefillKernels * kTimes * kLaunchNs;
  EXPECT_NEAR(call->prefill_time_ns(), prefill_ns, 0.02 * prefill_ns);
  EXPECT_GE(call->prefills_traced(), 4u);
  EXPECT_NEAR(call->decode_time_mean_ns(), token_ns, 0.02 * token_ns);
  EXPECT_NEAR(call->prefill_time_ns() + (call->inner() - 1) * call->decode_time_mean_ns(),
              call->time_mean_ns(), 1);
}

// The launch at the end stands for the agent's own call, whose number says how many passed before
// it.
TEST(StepLevelsTest, StepsAfterTheEndOfRecordsAreNotCounted) {
  Generation counted;
  Generation ended;
  for (Generation* generation : {&counted, &ended}) {
    generation->Trace(Repeat(CallOf(16), 3));
    if (generation == &ended) generation->EndRecords();
    generation->LeaveUntraced(5 * CallOf(16).size());
    generation->Trace({0});
  }
  EXPECT_NEAR(counted.End().after_traced(), 5 * 16, 2);
  const StepsSummary steps = ended.End();
  EXPECT_GT(steps.steps(), 0u);
  EXPECT_FALSE(steps.has_after_traced()) << "they may be any number";
}

TEST(StepLevelsTest, WhatSomebodySaysThatItRanChoosesTheLevel) {
  const auto steps_of = [](double steps) {
    SummaryOptions options;
    options.steps = steps;
    Generation generation(options);
    generation.Trace(Repeat(CallOf(16), 30));
    return generation.End();
  };
  const double step_ns = (2 + kDecoderLayers * kLayerKernels) * static_cast<double>(kLaunchNs);
  EXPECT_NEAR(steps_of(30 * 16).time_mean_ns(), step_ns, 0.05 * step_ns);
  EXPECT_EQ(steps_of(30 * 16).expected_note(), "as many as --steps says");
  EXPECT_NEAR(steps_of(30).time_mean_ns(), 16 * step_ns, 0.05 * 16 * step_ns);
  EXPECT_NEAR(steps_of(30 * 16 * kDecoderLayers).time_p50_ns(), kLayerKernels * kLaunchNs,
              kLaunchNs);
  const StepsSummary none = steps_of(77);
  EXPECT_NEAR(none.time_mean_ns(), step_ns, 0.05 * step_ns);
  EXPECT_NE(none.expected_note().find("no level"), std::string::npos) << none.expected_note();
}

}  // namespace
}  // namespace utlz
