#include "inject/tracing/window_cost.h"

#include <gtest/gtest.h>

#include <random>

#include "proto/tracing_cost.h"

namespace utlz::agent {
namespace {

constexpr double kProgramWindowNs = 25e6;
constexpr double kGapNs = 1e9;

// A program whose launches take 15 µs, in windows `cost_ns` more.
class Program {
 public:
  Program(double cost_ns, double noise) : cost_ns_(cost_ns), spread_(1, noise) {}

  void Run(WindowCost* cost, int windows) {
    for (int i = 0; i < windows; ++i) {
      Count(cost);
      Open(cost);
      Pass(kProgramWindowNs, 15'000 + cost_ns_, true);
      Close(cost);
      Pass(kGapNs, 15'000, false);
    }
  }
  void Count(WindowCost* cost) { cost->Counted(operations_, TracingCostNs(traced_, 0)); }
  void Open(WindowCost* cost) {
    operations_.GapEnded();
    cost->Opened(static_cast<uint64_t>(now_ns_));
  }
  void Close(WindowCost* cost) { cost->Closed(static_cast<uint64_t>(now_ns_)); }
  void Pass(double duration_ns, double launch_ns, bool traced) {
    const auto launches = static_cast<uint64_t>(duration_ns / (launch_ns * spread_(random_)));
    for (uint64_t i = 0; i < launches; ++i) {
      ++number_;
      if (traced) operations_.Add(number_);
    }
    if (traced) traced_ += launches;
    now_ns_ += duration_ns;
  }

 private:
  double cost_ns_;
  std::mt19937 random_{3};
  std::normal_distribution<double> spread_;
  OperationCount operations_;
  uint32_t number_ = 100;
  uint64_t traced_ = 0;
  double now_ns_ = 1e9;
};

TEST(WindowCost, IsTheFiguresUntilWindowsShowMore) {
  WindowCost cost;
  EXPECT_EQ(cost.Scale(), 1);
  Program program(3 * kTracedLaunchNs, 0);
  program.Run(&cost, 11);
  EXPECT_EQ(cost.Scale(), 1) << "too few windows";
  program.Run(&cost, 40);
  EXPECT_NEAR(cost.Scale(), 3, 0.1);
}

TEST(WindowCost, IsNeverLessThanTheFigures) {
  WindowCost cost;
  Program(0, 0.01).Run(&cost, 100);
  EXPECT_EQ(cost.Scale(), 1);
}

TEST(WindowCost, IsBoundedWhateverWindowsShow) {
  WindowCost cost;
  Program(50 * kTracedLaunchNs, 0).Run(&cost, 100);
  EXPECT_EQ(cost.Scale(), 4);
}

TEST(WindowCost, IsNotRaisedByNoise) {
  for (int windows = 10; windows < 200; windows += 10) {
    WindowCost cost;
    Program(kTracedLaunchNs, 0.2).Run(&cost, windows);
    EXPECT_LT(cost.Scale(), 1.6) << windows;
  }
}

// A program whose windows have shown what they cost.
class WindowCostTest : public testing::Test {
 protected:
  WindowCostTest() {
    program_.Run(&cost_, 30);
    program_.Count(&cost_);
    known_ = cost_.Scale();
  }

  Program program_{3 * kTracedLaunchNs, 0};
  WindowCost cost_;
  double known_ = 0;
};

TEST_F(WindowCostTest, AWindowThatAnotherClientEndedIsLeftOut) {
  program_.Open(&cost_);
  program_.Pass(kProgramWindowNs, 300'000, true);
  program_.Pass(kGapNs, 15'000, false);
  program_.Count(&cost_);
  EXPECT_EQ(cost_.Scale(), known_) << "nobody knows when it ended";
  program_.Open(&cost_);
  program_.Pass(kProgramWindowNs, 300'000, true);
  program_.Close(&cost_);
  program_.Count(&cost_);
  EXPECT_EQ(cost_.Scale(), known_) << "nor when the gap before this one began";
  program_.Pass(kGapNs, 15'000, false);
  program_.Open(&cost_);
  program_.Pass(kProgramWindowNs, 300'000, true);
  program_.Close(&cost_);
  program_.Count(&cost_);
  EXPECT_NE(cost_.Scale(), known_);
}

TEST_F(WindowCostTest, AnIdleWindowIsLeftOutAndTheOneAfterIt) {
  program_.Open(&cost_);
  program_.Pass(kProgramWindowNs, 10 * kProgramWindowNs, true);
  program_.Close(&cost_);
  program_.Pass(kGapNs, 15'000, false);
  program_.Count(&cost_);
  EXPECT_EQ(cost_.Scale(), known_);
  program_.Open(&cost_);
  program_.Pass(kProgramWindowNs, 15'000 + 3 * kTracedLaunchNs, true);
  program_.Close(&cost_);
  program_.Count(&cost_);
  EXPECT_EQ(cost_.Scale(), known_) << "numbers of two gaps came with it";
}

TEST_F(WindowCostTest, AGapOfFewOperationsIsLeftOut) {
  const auto scale_after = [this](double operations) {
    WindowCost cost = cost_;
    Program program = program_;
    for (int i = 0; i < 2; ++i) {
      program.Open(&cost);
      program.Pass(kProgramWindowNs, 300'000, true);
      program.Close(&cost);
      program.Count(&cost);
      if (i == 0) known_ = cost.Scale();
      program.Pass(kGapNs, kGapNs / operations, false);
    }
    return cost.Scale();
  };
  EXPECT_EQ(scale_after(19), known_);
  EXPECT_NE(scale_after(21), known_);
}

TEST(WindowCost, IsTheFiguresWhereTheySayNothing) {
  WindowCost cost;
  OperationCount copies;
  uint32_t number = 1;
  for (uint64_t now_ns = 1'000'000'000; now_ns < 100'000'000'000; now_ns += 1'000'000'000) {
    cost.Counted(copies, 0);
    copies.GapEnded();
    cost.Opened(now_ns);
    for (int i = 0; i < 10; ++i) copies.Add(number++);
    cost.Closed(now_ns + 100'000'000);
    number += 1000;
  }
  EXPECT_EQ(cost.Scale(), 1);
}

}  // namespace
}  // namespace utlz::agent
