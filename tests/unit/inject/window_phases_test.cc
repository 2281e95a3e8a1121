// Whether windows meet each part of a program's steps equally often, with the collector's planner
// and the agent's account as they are: what ran between windows is divided as it was in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collector/session/window_planner.h"
#include "inject/tracing/trace_budget.h"
#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kTurnInGapsNs = 20 * kMillisecondNs;
constexpr uint64_t kTurnWhileTracedNs = 5 * kMillisecondNs;
constexpr uint64_t kFlushPeriodNs = 500 * kMillisecondNs;
constexpr uint64_t kSamplerReadsNs = 88 * kMillisecondNs;
constexpr uint64_t kSampledNs = 16 * kMillisecondNs;
// Mean of a step. The account can pay for more than the planned windows, about for these, or for
// half of them.
constexpr std::array kLaunchesPerNs = {8e-6, 17e-6, 50e-6};
constexpr char kDevice[] = "GPU-0";

// Launches nothing for a third of each step, while it waits for its GPU; then forward; then
// backward, twice as densely. Records are handed over between windows, stacks are read in them.
class Training {
 public:
  // `told_ms` is what the collector takes its steps to last; 0: it does not know.
  Training(double step_ms, double launches_per_ns, double told_ms = 0)
      : step_ns_(step_ms * kMillisecondNs), launches_per_ns_(launches_per_ns) {
    budget_.Start(now_ns_, 10'000);
    planner_.StepsTake(static_cast<uint64_t>(told_ms * kMillisecondNs));
  }

  void Run(uint64_t duration_ns) {
    const uint64_t end_ns = now_ns_ + duration_ns;
    while (now_ns_ < end_ns) {
      if (now_ns_ >= window_.end_ns) Plan();
      Follow(budget_.ShouldTrace(now_ns_, handed_over_, 0, window_));
      now_ns_ = NextTurn();
    }
  }

  // Of each tenth of the step: how long it was traced, ÷ the mean of all.
  std::array<double, 10> TracedByTenth() const {
    std::array<double, 10> tenths{};
    double all = 0;
    constexpr double kResolutionNs = 50'000;
    for (const auto& [begin_ns, end_ns] : windows_) {
      for (auto at = static_cast<double>(begin_ns); at < static_cast<double>(end_ns);
           at += kResolutionNs) {
        tenths[static_cast<size_t>(10 * (at / step_ns_ - std::floor(at / step_ns_)))] += 1;
        all += 1;
      }
    }
    for (double& tenth : tenths) tenth *= 10 / all;
    return tenths;
  }
  size_t windows() const { return windows_.size(); }

 private:
  uint64_t LaunchesBy(uint64_t time_ns) const {
    const double steps = static_cast<double>(time_ns) / step_ns_;
    const double phase = steps - std::floor(steps);
    const double in_step = std::max(0.0, phase - 1.0 / 3) + std::max(0.0, phase - 2.0 / 3);
    return static_cast<uint64_t>((std::floor(steps) + in_step) * step_ns_ * launches_per_ns_);
  }
  void Plan() {
    planner_.SamplerReady(kDevice, now_ns_ + kSamplerReadsNs, kSampledNs);
    for (const DeviceWindow& window :
         planner_.Plan(now_ns_, {{{kDevice}}},
                       [&](const std::string&) { return budget_.ReadyNs(now_ns_); })) {
      window_ = {window.begin_ns, window.end_ns};
    }
  }
  void Follow(bool traces) {
    const uint64_t stacks = traced_ + (tracing_ ? LaunchesBy(now_ns_) - LaunchesBy(begun_ns_) : 0);
    budget_.SetStacksRead(stacks);
    if (tracing_ && now_ns_ > begun_ns_ + kFlushPeriodNs) handed_over_ = stacks;
    if (tracing_ && !traces) {
      windows_.emplace_back(begun_ns_, now_ns_);
      traced_ = handed_over_ = stacks;
    }
    if (!tracing_ && traces) begun_ns_ = now_ns_;
    tracing_ = traces;
  }
  uint64_t NextTurn() const {
    uint64_t turn_ns = now_ns_ + (tracing_ ? kTurnWhileTracedNs : kTurnInGapsNs);
    for (const uint64_t edge_ns : {window_.begin_ns, window_.end_ns}) {
      if (edge_ns > now_ns_) turn_ns = std::min(turn_ns, edge_ns);
    }
    return turn_ns;
  }

  double step_ns_;
  double launches_per_ns_;
  TraceBudget budget_;
  uint64_t now_ns_ = kSecondNs;
  WindowPlanner planner_{now_ns_, 1};
  PlannedWindow window_;
  bool tracing_ = false;
  uint64_t begun_ns_ = 0;
  uint64_t traced_ = 0;
  uint64_t handed_over_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> windows_;
};

void ExpectEvenTenths(double step_ms, double within) {
  for (const double launches_per_ns : kLaunchesPerNs) {
    Training training(step_ms, launches_per_ns);
    training.Run(2000 * kSecondNs);
    EXPECT_GT(training.windows(), 5000);
    for (const double tenth : training.TracedByTenth()) {
      EXPECT_NEAR(tenth, 1, within)
          << "of a step of " << step_ms << " ms with " << launches_per_ns << " launches a ns";
    }
  }
}

TEST(WindowPhases, EachPartOfAStepIsTracedEquallyOften) {
  for (const double step_ms : {31.0, 36.0, 45.0, 70.0}) ExpectEvenTenths(step_ms, 0.05);
}

// The largest difference of a tenth from the mean, in half a minute.
double LargestDifference(Training training) {
  training.Run(30 * kSecondNs);
  double largest = 0;
  for (const double tenth : training.TracedByTenth()) {
    largest = std::max(largest, std::abs(tenth - 1));
  }
  return largest;
}

TEST(WindowPhases, AFewWindowsOfWholeStepsMeetEachPartEquallyOften) {
  for (const double launches_per_ns : kLaunchesPerNs) {
    for (const double step_ms : {31.0, 36.0, 41.0}) {
      EXPECT_LT(LargestDifference({step_ms, launches_per_ns, step_ms}), 0.02);
      // What the collector knows of steps is a mean.
      EXPECT_LT(LargestDifference({step_ms, launches_per_ns, 0.98 * step_ms}), 0.04);
    }
    EXPECT_LT(LargestDifference({14.0, launches_per_ns, 14.0}), 0.03);
  }
  EXPECT_GT(LargestDifference({36.0, kLaunchesPerNs[2]}), 0.06) << "parts of steps";
}

TEST(WindowPhases, SoIsEachOfAStepThatLastsForManyWindows) {
  for (const double step_ms : {150.0, 400.0, 1000.0, 3000.0}) ExpectEvenTenths(step_ms, 0.12);
}

}  // namespace
}  // namespace utlz::agent
