#include "inject/window_cost.h"

#include <gtest/gtest.h>

#include <random>

#include "proto/tracing_cost.h"

namespace utlz::inject {
namespace {

constexpr double kWindowNs = 25e6;
constexpr double kGapNs = 1e9;

// A program whose launches take 15 µs, in windows `cost_ns` more.
class Program {
 public:
  Program(double cost_ns, double noise) : cost_ns_(cost_ns), spread_(1, noise) {}

  void Run(WindowCost* cost, int windows) {
    for (int i = 0; i < windows; ++i) {
      cost->Counted(operations_, TracingCostNs(traced_, 0));
      cost->Opened(static_cast<uint64_t>(now_ns_));
      Pass(kWindowNs, 15'000 + cost_ns_, true);
      cost->Closed(static_cast<uint64_t>(now_ns_));
      Pass(kGapNs, 15'000, false);
    }
  }
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

TEST(WindowCost, AWindowThatAnotherClientEndedIsLeftOut) {
  WindowCost cost;
  Program program(3 * kTracedLaunchNs, 0);
  program.Run(&cost, 30);
  const double before = cost.Scale();
  cost.Opened(100'000'000'000);
  cost.Opened(900'000'000'000);
  EXPECT_EQ(cost.Scale(), before);
}

}  // namespace
}  // namespace utlz::inject
