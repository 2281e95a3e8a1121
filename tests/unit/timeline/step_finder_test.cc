#include "collector/timeline/step_finder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace utlz {
namespace {

constexpr uint64_t kLaunchNs = 1000;

// Kernels by number, one launch a microsecond.
class Timeline {
 public:
  void Start(uint32_t kernel, uint16_t source) {
    Add(kernel, source, ActivityKind::kCompute, kLaunchNs / 2);
  }
  // The time that so many launches take.
  void Pass(uint64_t launches) { time_ns_ += launches * kLaunchNs; }
  void PassUntraced(uint64_t launches) {
    Add(kNoKernel, 0, ActivityKind::kUntraced, launches * kLaunchNs);
    Pass(launches);
  }
  void Launch(uint32_t kernel) {
    Start(kernel, 0);
    Pass(1);
  }
  const StepFinder& finder() const { return finder_; }

 private:
  void Add(uint32_t kernel, uint16_t source, ActivityKind kind, uint64_t length_ns) {
    finder_.Add({.start_ns = time_ns_,
                 .end_ns = time_ns_ + length_ns,
                 .kernel = kernel,
                 .stream = 7,
                 .context = 1,
                 .source = source,
                 .kind = kind});
  }

  StepFinder finder_;
  uint64_t time_ns_ = kLaunchNs;
};

std::vector<std::pair<uint64_t, uint64_t>> StepsOf(const std::vector<uint32_t>& kernels) {
  Timeline timeline;
  for (const uint32_t kernel : kernels) timeline.Launch(kernel);
  return timeline.finder().Steps();
}

void Append(uint32_t kernel, size_t times, std::vector<uint32_t>* kernels) {
  kernels->insert(kernels->end(), times, kernel);
}

uint64_t LengthOf(const std::pair<uint64_t, uint64_t>& step) { return step.second - step.first; }

TEST(StepFinderTest, ALoopOfOneKernelHasSteps) {
  std::vector<uint32_t> kernels = {7, 8, 9};
  Append(1, 200, &kernels);
  const auto steps = StepsOf(kernels);
  ASSERT_EQ(steps.size(), 199U);
  EXPECT_EQ(LengthOf(steps.front()), kLaunchNs);
}

// Each kernel of a step is launched for three sizes, one after the other.
TEST(StepFinderTest, KernelsLaunchedSeveralTimesInARowMakeSteps) {
  std::vector<uint32_t> kernels;
  for (int step = 0; step < 20; ++step) {
    for (uint32_t kernel = 0; kernel < 10; ++kernel) Append(kernel, 3, &kernels);
  }
  const auto steps = StepsOf(kernels);
  ASSERT_EQ(steps.size(), 19U);
  EXPECT_EQ(LengthOf(steps[7]), 30 * kLaunchNs);
}

// A small model proposes three to six tokens, six launches each; a large one verifies them in
// thirty: what comes back once a round does so after 48 to 66 launches.
TEST(StepFinderTest, RoundsOfUnequalLengthAreSteps) {
  std::vector<uint32_t> kernels;
  std::vector<uint64_t> rounds;
  uint32_t mixed = 5;
  for (int round = 0; round < 40; ++round) {
    mixed = mixed * 1664525u + 1013904223u;
    const uint32_t proposals = 3 + (mixed >> 30);
    for (uint32_t i = 0; i < proposals * 6; ++i) kernels.push_back(i % 6);
    for (uint32_t i = 0; i < 30; ++i) kernels.push_back(10 + i % 15);
    kernels.push_back(30);
    rounds.push_back(proposals * 6 + 31);
  }
  const auto steps = StepsOf(kernels);
  ASSERT_EQ(steps.size(), 39U);
  EXPECT_EQ(LengthOf(steps[7]), rounds[8] * kLaunchNs);
}

// Kernels at random: each comes back now and then.
TEST(StepFinderTest, KernelsInNoOrderMakeNoSteps) {
  std::vector<uint32_t> kernels;
  uint32_t mixed = 5;
  for (int i = 0; i < 2000; ++i) {
    mixed = mixed * 1664525u + 1013904223u;
    kernels.push_back((mixed >> 16) % 40);
  }
  EXPECT_TRUE(StepsOf(kernels).empty());
}

// Another process launches as it pleases meanwhile, less often.
TEST(StepFinderTest, TheBusiestStreamHasStepsWhereSeveralInterleave) {
  Timeline timeline;
  uint32_t mixed = 5;
  uint32_t other = 0;
  for (uint32_t i = 0; i < 400; ++i) {
    timeline.Start(i % 10, 1);
    mixed = mixed * 1664525u + 1013904223u;
    for (uint32_t more = mixed >> 30; more > 1; --more) timeline.Start(100 + other++ % 7, 2);
    timeline.Pass(1);
  }
  const auto steps = timeline.finder().Steps();
  ASSERT_EQ(steps.size(), 39U);
  EXPECT_EQ(LengthOf(steps[7]), 10 * kLaunchNs);
}

TEST(StepFinderTest, AKernelThatOneOperationRepeatsMakesNoSteps) {
  std::vector<uint32_t> kernels;
  uint32_t other = 100;
  for (int i = 0; i < 20; ++i) {
    Append(1, 8, &kernels);
    Append(other++, 1 + static_cast<size_t>(i) % 5, &kernels);
  }
  EXPECT_TRUE(StepsOf(kernels).empty());
}

// No kernel comes back after the same number of launches, but kernel 1 after kernel 3 does.
TEST(StepFinderTest, StepsInWhichEachKernelComesSeveralTimes) {
  std::vector<uint32_t> kernels;
  for (int step = 0; step < 20; ++step) {
    Append(1, 4, &kernels);
    Append(2, 4, &kernels);
    Append(3, 10, &kernels);
  }
  const auto steps = StepsOf(kernels);
  ASSERT_GE(steps.size(), 18U);
  EXPECT_EQ(LengthOf(steps.front()), 18 * kLaunchNs);
  EXPECT_EQ(LengthOf(steps.back()), 18 * kLaunchNs);
}

// The same where the pattern is settled before the last launches come.
TEST(StepFinderTest, StepsInWhichEachKernelComesSeveralTimesAreFollowed) {
  std::vector<uint32_t> kernels;
  while (kernels.size() < 2 * StepFinder::kSearchLaunches) {
    Append(1, 40, &kernels);
    Append(2, 60, &kernels);
  }
  const auto steps = StepsOf(kernels);
  EXPECT_GE(steps.size(), kernels.size() / 100 - 2);
  EXPECT_EQ(LengthOf(steps.back()), 100 * kLaunchNs);
}

// A token of generation: kernel 3 in every second one, kernel 4 in the others.
TEST(StepFinderTest, VariantsThatTakeTurnsDoNotMakeAStepTwiceAsLong) {
  std::vector<uint32_t> kernels;
  for (uint32_t token = 0; token < 40; ++token) {
    kernels.push_back(1);
    for (uint32_t layer = 0; layer < 10; ++layer) kernels.insert(kernels.end(), {10, 11, 12});
    kernels.push_back(token % 2 == 0 ? 3 : 4);
    kernels.push_back(2);
  }
  const auto steps = StepsOf(kernels);
  ASSERT_EQ(steps.size(), 39U);
  EXPECT_EQ(LengthOf(steps[5]), 33 * kLaunchNs);
}

// Four passes and the optimizer's three kernels.
TEST(StepFinderTest, AccumulatedPassesAreOneStep) {
  std::vector<uint32_t> kernels;
  for (int step = 0; step < 10; ++step) {
    for (int pass = 0; pass < 4; ++pass) {
      kernels.push_back(1);
      for (uint32_t layer = 0; layer < 20; ++layer) kernels.insert(kernels.end(), {10, 11});
    }
    kernels.insert(kernels.end(), {20, 21, 22});
  }
  const auto steps = StepsOf(kernels);
  ASSERT_EQ(steps.size(), 9U);
  EXPECT_EQ(LengthOf(steps[5]), (4 * 41 + 3) * kLaunchNs);
}

// A training whose step is 20 equal layers and an optimizer, of which the first ten steps are
// recorded. After them come many windows, each shorter than a step.
class StepsInWindows {
 public:
  StepsInWindows() {
    step_.push_back(1);
    for (int layer = 0; layer < 20; ++layer) {
      for (uint32_t kernel = 10; kernel < 17; ++kernel) step_.push_back(kernel);
    }
    for (uint32_t kernel = 0; kernel < 20; ++kernel) step_.push_back(50 + kernel % 2);
  }
  void Record(size_t launches) {
    for (size_t i = 0; i < launches; ++i) timeline_.Launch(step_[at_++ % step_.size()]);
  }
  void PassUntraced(size_t launches) {
    timeline_.PassUntraced(launches);
    at_ += launches;
  }
  size_t launches() const { return step_.size(); }
  const StepFinder& finder() const { return timeline_.finder(); }

 private:
  Timeline timeline_;
  std::vector<uint32_t> step_;
  size_t at_ = 0;
};

TEST(StepFinderTest, ManyShortWindowsDoNotHideTheStepsThatWereRecordedWhole) {
  StepsInWindows run;
  run.Record(10 * run.launches());
  for (size_t window = 0; window < 120; ++window) {
    run.PassUntraced(3 * run.launches() + 13 * window);
    run.Record(run.launches() * 2 / 3);
  }
  const auto steps = run.finder().Steps();
  ASSERT_GE(steps.size(), 10U);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(LengthOf(steps[i]), run.launches() * kLaunchNs);
  const auto layers = run.finder().FindLayers();
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->launches, 7);
}

// What was recorded first, and never ran again, is no step however often it was repeated.
TEST(StepFinderTest, WhatNoWindowShowsIsNoStep) {
  Timeline timeline;
  for (uint32_t i = 0; i < 3000; ++i) timeline.Launch(100 + i % 300);
  for (uint32_t window = 0; window < 60; ++window) {
    timeline.PassUntraced(1);
    for (uint32_t i = 0; i < 120; ++i) timeline.Launch((i + 7 * window) % 15);
  }
  const auto steps = timeline.finder().Steps();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(LengthOf(steps[2]), 15 * kLaunchNs);
}

// A kernel after another one marks the steps. Which one came before a window is not known.
TEST(StepFinderTest, NoStepBeginsWithAWindowWhereThatIsNotKnown) {
  Timeline timeline;
  uint64_t begun = 0;
  const auto launch_rest = [&](int of_first_kernel) {
    for (int i = 0; i < of_first_kernel; ++i) timeline.Launch(1);
    for (int i = 0; i < 4; ++i) timeline.Launch(2);
    for (int i = 0; i < 10; ++i) timeline.Launch(3);
  };
  const auto launch_step = [&] {
    launch_rest(4);
    ++begun;
  };
  for (int i = 0; i < 20; ++i) launch_step();
  for (int window = 0; window < 10; ++window) {
    timeline.PassUntraced(1);
    launch_rest(1);
    launch_step();
  }
  EXPECT_LE(timeline.finder().Steps().size(), begun);
}

// A cache that grows adds a launch now and then.
TEST(StepFinderTest, StepsMayDifferByAFewLaunches) {
  std::vector<uint32_t> kernels;
  for (uint32_t token = 0; token < 40; ++token) {
    kernels.push_back(1);
    for (uint32_t layer = 0; layer < 50; ++layer) kernels.insert(kernels.end(), {10, 11, 12});
    Append(13, token % 3, &kernels);
  }
  EXPECT_EQ(StepsOf(kernels).size(), 39U);
}

}  // namespace
}  // namespace utlz
