// Calls of many steps and repetitions within a step, in a program that generates text: each call
// begins with kernels that come back only in the next one.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/ring_abi.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr uint32_t kLayers = 20;
constexpr uint32_t kLayerKernels = 5;
constexpr uint32_t kFirstLayerKernel = 1;
constexpr uint32_t kLastKernel = kFirstLayerKernel + kLayerKernels;
constexpr uint32_t kFirstPrefillKernel = kLastKernel + 1;
constexpr uint32_t kPrefillKernels = 4;
constexpr uint32_t kKernels = kFirstPrefillKernel + kPrefillKernels;
constexpr uint64_t kLaunchNs = 10 * kMicrosecond;
constexpr int kSteps = 200;

// Launches of one call of `steps` steps, by kernel.
std::vector<uint32_t> CallOf(int steps) {
  std::vector<uint32_t> kernels;
  for (uint32_t i = 0; i < kPrefillKernels; ++i) kernels.push_back(kFirstPrefillKernel + i);
  for (int step = 0; step < steps; ++step) {
    kernels.push_back(0);
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      for (uint32_t i = 0; i < kLayerKernels; ++i) kernels.push_back(kFirstLayerKernel + i);
    }
    kernels.push_back(kLastKernel);
  }
  return kernels;
}

// A run whose launches are one every 10 µs, slower by `slowdown` while they are traced.
class Generation {
 public:
  explicit Generation(const SummaryOptions& options = {}) : run_(options) {
    run_.StartRun();
    run_.StartProcess();
    std::vector<std::string> names;
    for (uint32_t i = 0; i < kKernels; ++i) names.push_back("kernel_" + std::to_string(i));
    run_.SendKernels(names);
  }

  // The kernels that only a call's beginning has take so many times as long as others.
  void PrefillTakes(double times) { prefill_times_ = times; }

  void Trace(const std::vector<uint32_t>& kernels, double slowdown = 1) {
    Tell();
    const uint64_t start_ns = now_ns_;
    SendWindow(start_ns, 0);
    in_gaps_ += std::exchange(untraced_, 0);
    std::vector<Launch> launches;
    for (const uint32_t kernel : kernels) {
      const double times = kernel >= kFirstPrefillKernel ? prefill_times_ : 1;
      const double length_ns = times * static_cast<double>(kLaunchNs);
      launches.push_back(
          RunBuilder::LaunchAt(now_ns_, static_cast<uint64_t>(length_ns) / 2, kernel));
      now_ns_ += static_cast<uint64_t>(slowdown * length_ns);
    }
    run_.SendLaunches(launches);
    recorded_ += kernels.size();
    SendWindow(start_ns, now_ns_);
  }

  // For the process, after which CUPTI gives operations no numbers.
  void EndRecords() {
    ended_ = true;
    Tell();
  }

  void LeaveUntraced(size_t launches) {
    if (!ended_) untraced_ += launches;
    now_ns_ += launches * kLaunchNs;
  }

  StepsSummary End() {
    Tell();
    return run_.EndRun(now_ns_).steps();
  }

 private:
  void SendWindow(uint64_t start_ns, uint64_t end_ns) {
    TraceWindow message;
    message.set_start_ns(kRunStartNs + start_ns);
    if (end_ns != 0) message.set_end_ns(kRunStartNs + end_ns);
    message.set_flags(kTraceKernels);
    run_.Send(1, FRAME_TRACE_WINDOW, message);
  }

  // What the agent says before a window opens, and at the end.
  void Tell() {
    AgentStatus status;
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(recorded_ + in_gaps_);
    status.set_operations_in_gaps(in_gaps_);
    if (ended_) status.set_records_state(RECORDS_ENDED);
    run_.Send(1, FRAME_AGENT_STATUS, status);
  }

  RunBuilder run_;
  double prefill_times_ = 1;
  uint64_t now_ns_ = 0;
  uint64_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
  uint64_t untraced_ = 0;  // since the last window
  bool ended_ = false;
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
    const std::vector<uint32_t> one = CallOf(kSteps);
    kernels.insert(kernels.end(), one.begin(), one.end());
  }
  generation.Trace(kernels);
  const StepsSummary steps = generation.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  EXPECT_NEAR(call->count(), 12, 0.1);
  EXPECT_EQ(call->inner(), kSteps);
  const StepLevel* step = LevelNamed(steps, "step");
  ASSERT_NE(step, nullptr);
  EXPECT_NEAR(step->count(), 12 * kSteps, 1);
  EXPECT_EQ(step->inner(), kLayers);
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
  EXPECT_EQ(LevelNamed(steps, "step")->inner(), kLayers);
}

// Of 40 calls three are seen to begin, and most steps lie between windows.
TEST(StepLevelsTest, CountsCallsAndStepsThatWereNotTraced) {
  Generation generation;
  const std::vector<uint32_t> one = CallOf(kSteps);
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
  EXPECT_NEAR(LevelNamed(steps, "step")->count(), kSteps * static_cast<double>(calls), 1);
}

// Tracing makes a step a quarter longer; most of them nobody traced.
TEST(StepLevelsTest, AStepLastsAsLongAsThoseThatWereNotTraced) {
  Generation generation;
  const std::vector<uint32_t> one = CallOf(kSteps);
  for (int i = 0; i < 8; ++i) {
    generation.Trace(one, 1.25);
    generation.LeaveUntraced(9 * one.size());
  }
  generation.Trace(one, 1.25);
  const StepsSummary steps = generation.End();
  const double untraced_ns = static_cast<double>(one.size()) / kSteps * kLaunchNs;
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
  whole.Trace(Repeat(CallOf(kSteps), 2));
  const StepsSummary steps = whole.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  EXPECT_NEAR(call->count(), 2, 0.1);
  EXPECT_EQ(call->inner(), kSteps);

  Generation missed;
  missed.Trace(CallOf(kSteps));
  missed.LeaveUntraced(3 * CallOf(kSteps).size());
  missed.Trace(CallOf(kSteps));
  EXPECT_EQ(LevelNamed(missed.End(), "call"), nullptr);

  Generation cut;  // the second call is only a third of the first
  std::vector<uint32_t> kernels = CallOf(kSteps);
  const std::vector<uint32_t> third = CallOf(kSteps / 3);
  kernels.insert(kernels.end(), third.begin(), third.end());
  cut.Trace(kernels);
  EXPECT_EQ(LevelNamed(cut.End(), "call"), nullptr);
}

TEST(StepLevelsTest, ThePromptsStepIsToldApartFromThoseOfTokens) {
  constexpr double kTimes = 100;
  Generation generation;
  generation.PrefillTakes(kTimes);
  generation.Trace(Repeat(CallOf(kSteps), 6));
  const StepsSummary steps = generation.End();
  const StepLevel* call = LevelNamed(steps, "call");
  ASSERT_NE(call, nullptr);
  const double token_ns = (2 + kLayers * kLayerKernels) * static_cast<double>(kLaunchNs);
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
  const double step_ns = (2 + kLayers * kLayerKernels) * static_cast<double>(kLaunchNs);
  EXPECT_NEAR(steps_of(30 * 16).time_mean_ns(), step_ns, 0.05 * step_ns);
  EXPECT_EQ(steps_of(30 * 16).expected_note(), "as many as --steps says");
  EXPECT_NEAR(steps_of(30).time_mean_ns(), 16 * step_ns, 0.05 * 16 * step_ns);
  EXPECT_NEAR(steps_of(30 * 16 * kLayers).time_p50_ns(), kLayerKernels * kLaunchNs, kLaunchNs);
  const StepsSummary none = steps_of(77);
  EXPECT_NEAR(none.time_mean_ns(), step_ns, 0.05 * step_ns);
  EXPECT_NE(none.expected_note().find("no level"), std::string::npos) << none.expected_note();
}

}  // namespace
}  // namespace utlz
