// Where tracing is dense for a while and sparse then, what a step takes and what it is made of are
// those of all steps.
#include "collector/analysis/weighed_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "collector/analysis/steady_part.h"
#include "proto/ring_abi.h"
#include "tests/support/counted_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr uint64_t kGemmNs = 300 * kMicrosecond;
constexpr uint64_t kOtherNs = 100 * kMicrosecond;
constexpr uint32_t kKernelsOfAStep =
    5;  // in a step: a matrix product, which computes, and four that copy
constexpr double kKernelNs = kGemmNs + (kKernelsOfAStep - 1) * kOtherNs;
constexpr double kTensorShare = 0.5;  // of the time of the product
constexpr double kFlopsPerNs = 1000;  // at the peak
constexpr uint64_t kSampleNs = 10 * kMicrosecond;

// A program whose GPU works for as long in every step, and waits after it for as long as a test
// says. It is traced and sampled in windows.
class Program {
 public:
  Program() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendPeaks();
    run_.SendKernels({"nvjet_sm90_tst_a", "b", "c", "d", "e"});
    run_.Send(0, FRAME_METRIC_SET, CountedSet(1, RunBuilder::Uuid(), kSampleNs));
  }

  // After each step the GPU waits for `idle_ns`, for as much longer where steps are traced, and for
  // as long after the tenth step of a window.
  struct Waits {
    double idle_ns = 0;
    double more_ns = 0;
    double pause_ns = 0;
  };

  void Window(int steps, const Waits& waits) {
    Tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    const uint64_t start_ns = now_ns_;
    for (int i = 0; i < steps; ++i) {
      TracedStep(waits.idle_ns, waits.more_ns + (i == 10 ? waits.pause_ns : 0));
    }
    window.set_end_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    SendSamples(start_ns);
    Tell();
  }

  // Between two windows.
  void Gap(int steps, double idle_ns) {
    for (int i = 0; i < steps; ++i) {
      now_ns_ += static_cast<uint64_t>(kKernelNs) + IdleNs(idle_ns);
      numbered_ += kKernelsOfAStep;
    }
    steps_ += steps;
  }

  // Of a step, had nobody traced it, and without pauses.
  double TrueStepNs() const {
    return (static_cast<double>(now_ns_ - kBeginNs) - added_ns_) / steps_;
  }

  Summary End() { return run_.EndRun(now_ns_); }

 private:
  static constexpr uint64_t kBeginNs = kMillisecond;

  struct Busy {
    uint64_t start_ns;
    uint64_t end_ns;
    bool computes;
  };

  uint64_t IdleNs(double idle_ns) {
    return static_cast<uint64_t>(std::abs(idle_ns * noise_(random_)));
  }

  void TracedStep(double idle_ns, double more_ns) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < kKernelsOfAStep; ++i) {
      const uint64_t length_ns = i == 0 ? kGemmNs : kOtherNs;
      launches.push_back(RunBuilder::LaunchAt(now_ns_, length_ns, i));
      busy_.push_back({now_ns_, now_ns_ + length_ns, i == 0});
      now_ns_ += length_ns;
    }
    run_.SendLaunches(launches);
    now_ns_ += IdleNs(idle_ns) + static_cast<uint64_t>(more_ns);
    added_ns_ += more_ns;
    steps_ += 1;
    recorded_ += kKernelsOfAStep;
    numbered_ += kKernelsOfAStep;
    newest_recorded_ = numbered_;
  }

  void Tell() {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    status.set_launches_recorded(recorded_);
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(newest_recorded_);
    run_.Send(1, FRAME_AGENT_STATUS, status);
  }

  // Of the window that began at `start_ns` and ends now.
  void SendSamples(uint64_t start_ns) {
    SampleBatch batch;
    batch.set_metric_set(1);
    batch.set_device_uuid(RunBuilder::Uuid());
    batch.set_base_ns(kRunStartNs + start_ns);
    batch.set_interval_ns(kSampleNs);
    for (int i = 0; i < 5; ++i) batch.add_column();
    int64_t last[5] = {};
    uint32_t samples = 0;
    for (uint64_t at = start_ns; at + kSampleNs <= now_ns_; at += kSampleNs, ++samples) {
      const double computes = BusyNs(at, true);
      const double copies = BusyNs(at, false);
      const double values[] = {copies, computes, kTensorShare * computes * 400,
                               (computes + copies) * 100, double{kSampleNs}};
      for (int column = 0; column < 5; ++column) {
        const auto value = static_cast<int64_t>(values[column]);
        batch.mutable_column(column)->add_delta(value - last[column]);
        last[column] = value;
      }
    }
    batch.set_samples(samples);
    run_.Send(0, FRAME_SAMPLES, batch);
    busy_.clear();
  }

  double BusyNs(uint64_t at, bool computes) const {
    auto busy = std::partition_point(busy_.begin(), busy_.end(),
                                     [at](const Busy& one) { return one.end_ns <= at; });
    double sum_ns = 0;
    for (; busy != busy_.end() && busy->start_ns < at + kSampleNs; ++busy) {
      if (busy->computes != computes) continue;
      sum_ns += static_cast<double>(std::min(at + kSampleNs, busy->end_ns) -
                                    std::max(at, busy->start_ns));
    }
    return sum_ns;
  }

  RunBuilder run_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_{1, 0.1};
  std::vector<Busy> busy_;  // in the window
  uint64_t now_ns_ = kBeginNs;
  double added_ns_ = 0;
  double steps_ = 0;
  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t newest_recorded_ = 0;
};

double FamiliesNs(const Summary& summary) {
  double sum_ns = 0;
  for (const FamilySummary& family : summary.families()) sum_ns += family.time_per_step_ns();
  return sum_ns;
}

// Shares and the mean step are of the same steps.
void ExpectPartsMakeTheStep(const Summary& summary) {
  const StepsSummary& steps = summary.steps();
  const double step_ns = steps.time_mean_ns();
  EXPECT_NEAR(FamiliesNs(summary), steps.kernel_time_ns(), 1e-6 * step_ns);
  EXPECT_NEAR(summary.devices(0).gpu_busy_share() * step_ns, steps.kernel_time_ns(),
              1e-6 * step_ns);
  EXPECT_NEAR(IdleSlicesNs(summary), steps.idle_time_ns(), 1e-6 * step_ns);
  EXPECT_NEAR(steps.kernel_time_ns() + steps.copy_time_ns() + steps.idle_time_ns(), step_ns,
              1e-6 * step_ns);
  ASSERT_EQ(summary.ladder().rungs_size(), 4);
  EXPECT_NEAR(summary.ladder().rungs(0).time_ns(), step_ns, 1e-6 * step_ns);
  EXPECT_NEAR(summary.ladder().rungs(1).time_ns(), steps.kernel_time_ns(), 1e-6 * step_ns);
  ExpectSlicesSumToTheWhole(summary);
}

void ExpectTruth(const Summary& summary, double step_ns) {
  ASSERT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_NEAR(summary.steps().time_mean_ns(), step_ns, 0.015 * step_ns);
  EXPECT_NEAR(FamiliesNs(summary), kKernelNs, 0.001 * kKernelNs);
  EXPECT_NEAR(summary.devices(0).gpu_busy_share(), kKernelNs / step_ns, 0.015);
  const double hfu = kTensorShare * kGemmNs / step_ns;
  EXPECT_NEAR(summary.devices(0).hfu(), hfu, 0.02 * hfu + 2 * summary.devices(0).hfu_error());
  const double flops = kTensorShare * kGemmNs * kFlopsPerNs;
  EXPECT_NEAR(summary.efficiency().executed_flops_per_step(), flops, 0.01 * flops);
  EXPECT_NEAR(summary.devices(0).flops_per_second(), flops / step_ns * 1e9,
              0.02 * flops / step_ns * 1e9);
}

// Steps of one window, twice as many as of all that follow.
constexpr int kDense = 250;

TEST(WeighedTimeTest, DenselyTracedStepsThatWaitLongerAreNotAllSteps) {
  Program program;
  program.Window(kDense, {.idle_ns = 500e3});
  for (int i = 0; i < 20; ++i) {
    program.Gap(100, 300e3);
    program.Window(6, {.idle_ns = 300e3});
  }
  const Summary summary = program.End();
  EXPECT_FALSE(summary.steps().has_slowdown_time_ns());
  ExpectTruth(summary, program.TrueStepNs());
  ExpectPartsMakeTheStep(summary);
}

TEST(WeighedTimeTest, StepsThatAreAllAlikeAreToldAsBefore) {
  Program program;
  program.Window(kDense, {.idle_ns = 300e3});
  for (int i = 0; i < 20; ++i) {
    program.Gap(100, 300e3);
    program.Window(6, {.idle_ns = 300e3});
  }
  const Summary summary = program.End();
  ExpectTruth(summary, program.TrueStepNs());
  ExpectPartsMakeTheStep(summary);
}

// Pauses among steps that stand for few others are as much of a mean step as these steps are.
TEST(WeighedTimeTest, PausesAreTakenOutOfTheSameSteps) {
  Program program;
  program.Window(kDense, {.idle_ns = 500e3, .pause_ns = 150e6});
  for (int i = 0; i < 20; ++i) {
    program.Gap(100, 300e3);
    program.Window(6, {.idle_ns = 300e3});
  }
  const Summary summary = program.End();
  EXPECT_EQ(summary.steady_state().pauses(), 1u);
  EXPECT_NEAR(summary.steady_state().pause_time_ns(), 150e6, 5e6) << "as it was";
  ExpectTruth(summary, program.TrueStepNs());
  ExpectPartsMakeTheStep(summary);
}

// Of the mean of steps that stand for others: those of the dense window and of 20 sparse ones of
// six steps, of which the last ends in the gap of a hundred that follows.
double ErrorOfMeanNs(const StepsSummary& steps) {
  const auto weight_of = [](int step) {
    if (step < kDense - 1) return 1 + 101.0 / 2 / (kDense - 1);
    return step < kDense - 1 + 19 * 5 ? 1 + 101.0 / 5 : 1 + 101.0 / 2 / 5;
  };
  double weights = 0, sum_ns = 0, squares = 0;
  for (int i = 0; i < steps.time_ns_size(); ++i) {
    weights += weight_of(i);
    sum_ns += weight_of(i) * steps.time_ns(i);
  }
  for (int i = 0; i < steps.time_ns_size(); ++i) {
    squares += std::pow(weight_of(i) * (steps.time_ns(i) - sum_ns / weights), 2);
  }
  return std::sqrt(squares) / weights;
}

TEST(WeighedTimeTest, WhatTracingAddsIsTakenOutOfTheSameSteps) {
  Program program;
  program.Window(kDense, {.idle_ns = 500e3});
  for (int i = 0; i < 20; ++i) {
    program.Gap(100, 300e3);
    program.Window(6, {.idle_ns = 300e3, .more_ns = 100e3});
  }
  const Summary summary = program.End();
  EXPECT_TRUE(summary.steps().has_slowdown_time_ns());
  ExpectTruth(summary, program.TrueStepNs());
  ExpectPartsMakeTheStep(summary);
  const double error_ns = ErrorOfMeanNs(summary.steps());
  EXPECT_NEAR(summary.steps().slowdown_error_ns(), error_ns, 0.01 * error_ns);
}

TEST(WeighedTimeTest, LengthsCountAsOftenAsTheirParts) {
  WeighedTime time;
  time.Add(10, 20, 1);
  time.Add(25, 22, 7);  // as a hostile program may mark a step
  time.Add(30, 40, 3);
  EXPECT_EQ(time.LengthNs(0, 100), 40);
  EXPECT_EQ(time.LengthNs(15, 35), 5 + 3 * 5);
  EXPECT_EQ(time.LengthNs(20, 30), 0);
}

TEST(WeighedTimeTest, CutsCountForLess) {
  WeighedTime time;
  time.Add(10, 20, 1);
  time.Add(30, 40, 3);
  const WeighedTime rest =
      time.Without({{5, 12, 1}, {15, 32, 0.5}, {16, 18, 1}, {38, 50, 1}, {60, 70, 1}});
  EXPECT_EQ(rest.LengthNs(0, 100), 3 + 5 * 0.5 + 3 * (2 * 0.5 + 6));
  EXPECT_EQ(rest.LengthNs(10, 12), 0);
  EXPECT_EQ(rest.LengthNs(15, 18), 1.5) << "of two cuts that overlap, the first";
  EXPECT_EQ(time.LengthNs(0, 100), 40) << "as it was";
}

TEST(WeighedTimeTest, MeanWeightsAreOfThePartsInATime) {
  WeighedTime time;
  EXPECT_EQ(time.MeanWeight(0, 100), 0);
  time.Add(10, 20, 1);
  time.Add(30, 40, 3);
  EXPECT_EQ(time.MeanWeight(12, 18), 1);
  EXPECT_EQ(time.MeanWeight(10, 40), 2) << "what lies between two parts is like them";
  EXPECT_EQ(time.MeanWeight(20, 30), 0);
  EXPECT_EQ(time.MeanWeight(0, 20), 0.5) << "nothing is like what was before the first";
  EXPECT_EQ(time.MeanWeight(30, 50), 1.5);
  time.Multiply(2);
  EXPECT_EQ(time.MeanWeight(10, 40), 4);
}

// From a moment after kRunStartNs on, as many launches of half a millisecond, each at the beginning
// of as long a stretch.
void AddLaunches(uint64_t start_ms, int launches, uint64_t stretch_us, ActivityTotals* ledger) {
  uint64_t at_ns = kRunStartNs + start_ms * kMillisecond;
  for (int i = 0; i < launches; ++i) {
    const uint64_t end_ns = at_ns + 500 * kMicrosecond;
    const uint64_t next_ns = at_ns + stretch_us * kMicrosecond;
    ledger->AddStart({.start_ns = at_ns,
                      .end_ns = end_ns,
                      .kernel = 0,
                      .stream = 0,
                      .context = 0,
                      .source = 1,
                      .kind = ActivityKind::kCompute,
                      .begins_launch = true});
    const ActivityMask kernel = MaskOf(ActivityKind::kCompute);
    ledger->Add({.start_ns = at_ns, .end_ns = end_ns, .mask = kernel});
    ledger->Add({.start_ns = end_ns, .end_ns = next_ns, .mask = 0, .next = kernel});
    at_ns = next_ns;
  }
}

void AddUntraced(uint64_t start_ms, uint64_t end_ms, ActivityTotals* ledger) {
  ledger->Add({.start_ns = kRunStartNs + start_ms * kMillisecond,
               .end_ns = kRunStartNs + end_ms * kMillisecond,
               .mask = kUntracedMask});
}

StepsSpan DenseAndSparse(double dense_weight, double sparse_weight) {
  const auto at = [](uint64_t time_ms) { return kRunStartNs + time_ms * kMillisecond; };
  return {.start_ns = at(0),
          .end_ns = at(1010),
          .usual_step_ns = 1e6,
          .traced = {{at(0), at(100), 100, dense_weight}, {at(1000), at(1010), 10, sparse_weight}},
          .device = 0};
}

TEST(WeighedTimeTest, OfTheDeviceOfTheStepsTheyAreTheStepsThemselves) {
  DeviceState device;
  AddLaunches(0, 50, 2000, &device.ledger);
  AddUntraced(100, 998, &device.ledger);
  AddLaunches(998, 12, 1000, &device.ledger);
  const DevicePart part = SteadyPart{DenseAndSparse(1, 90)}.Of(device, 0);
  const double kernel_ns = 25e6 + 90 * 5e6;
  const double idle_ns = 75e6 + 90 * 5e6;
  EXPECT_NEAR(part.TimeNs(), 112e6, 1) << "all that was traced";
  EXPECT_NEAR(part.content.KernelNs(), 112e6 * kernel_ns / (kernel_ns + idle_ns), 1);
  EXPECT_NEAR(part.content.IdleNs(), 112e6 - part.content.KernelNs(), 1);
  EXPECT_NEAR(part.content.Gaps(TimeCategory::kOtherGap),
              112e6 * (50 + 90 * 10) / (kernel_ns + idle_ns), 1e-6);
  EXPECT_NEAR(part.kernel_weight, part.content.KernelNs() / 31e6, 1e-9);
  EXPECT_NEAR(part.content.UntracedNs(), 898e6, 1) << "as it was";
}

// As all of that step's wait is.
TEST(WeighedTimeTest, WhatUtlzHeldUpIsTakenOutAsOftenAsItsStepCounts) {
  DeviceState device;
  AddLaunches(0, 50, 2000, &device.ledger);
  AddUntraced(100, 1000, &device.ledger);
  AddLaunches(1000, 10, 1000, &device.ledger);
  StepsSpan steps = DenseAndSparse(1, 90);
  const uint64_t start_ns = steps.traced[1].start_ns;
  steps.hold_ups = {{start_ns, start_ns + kMillisecond, 200e3}};
  const DevicePart part = SteadyPart{steps}.Of(device, 0);
  const double kernel_ns = 25e6 + 90 * 5e6;
  const double idle_ns = 75e6 + 90 * (5e6 - 200e3);
  EXPECT_NEAR(part.stall_ns, 200e3, 1) << "as it was";
  EXPECT_NEAR(part.TimeNs(), 110e6 - 200e3, 1);
  EXPECT_NEAR(part.content.KernelNs(), part.TimeNs() * kernel_ns / (kernel_ns + idle_ns), 1);
  // Its gap of half a millisecond, and that of a step like it.
  const uint64_t gap_ns = start_ns + 500 * kMicrosecond;
  const double held_up_ns = part.gap_time.LengthNs(gap_ns, gap_ns + 500 * kMicrosecond);
  const double usual_ns =
      part.gap_time.LengthNs(gap_ns + kMillisecond, gap_ns + kMillisecond + 500 * kMicrosecond);
  EXPECT_NEAR(held_up_ns, 0.6 * usual_ns, 1);
}

TEST(WeighedTimeTest, AnotherDeviceDidAsMuchOfTheSameSteps) {
  DeviceState device;
  AddLaunches(0, 50, 2000, &device.ledger);
  AddUntraced(100, 800, &device.ledger);
  AddLaunches(800, 20, 1000, &device.ledger);
  AddUntraced(820, 1010, &device.ledger);
  const DevicePart part = SteadyPart{DenseAndSparse(1, 90)}.Of(device, 1);
  const double kernel_ns = (100 * 0.5 + 900 * 0.5) * 1e6;  // of each step
  const double idle_ns = (100 * 1.5 + 900 * 0.5) * 1e6;
  EXPECT_NEAR(part.TimeNs(), 120e6, 1);
  EXPECT_NEAR(part.content.KernelNs(), 120e6 * kernel_ns / (kernel_ns + idle_ns), 1);
}

TEST(WeighedTimeTest, WhereAllStandForAsManyNothingChanges) {
  DeviceState device;
  AddLaunches(0, 50, 2000, &device.ledger);
  AddUntraced(100, 1000, &device.ledger);
  AddLaunches(1000, 10, 1000, &device.ledger);
  StepsSpan steps = DenseAndSparse(3, 3);
  const DevicePart weighed = SteadyPart{steps}.Of(device, 0);
  steps.traced.clear();
  const DevicePart plain = SteadyPart{steps}.Of(device, 0);
  for (size_t i = 0; i < kTimeCategories; ++i) {
    EXPECT_NEAR(weighed.content.time_ns[i], plain.content.time_ns[i], 1e-3) << i;
  }
  for (size_t i = 0; i < kGapCategories; ++i) {
    EXPECT_NEAR(weighed.content.gaps[i], plain.content.gaps[i], 1e-9) << i;
  }
  EXPECT_NEAR(weighed.kernel_weight, 1, 1e-12);
  EXPECT_NEAR(plain.kernel_weight, 1, 1e-12);
}

}  // namespace
}  // namespace utlz
