// Intervals of kernels whose launches are no independent ones: what a program does at a time is
// alike in neighbours, and differs from window to window.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "collector/attribution/cluster_variance.h"
#include "collector/attribution/engine.h"
#include "tests/unit/attribution/simulated_load.h"

namespace utlz::attribution {
namespace {

constexpr int64_t kPauseNs = 1'000'000'000;
const std::vector<SimulatedKernel> kStep = {
    {1, 8000, 8e6, 0, 1, 2000}, {2, 6000, 2e6, 0, 1, 2000}, {3, 9000, 5e6, 0, 1, 3000}};

// Adds stretches of work one after the other, each of which does more or less of everything.
class Program {
 public:
  Program(Engine* engine, uint64_t seed) : engine_(engine), random_(seed) {}

  void Work(const std::vector<SimulatedKernel>& step, size_t steps, double spread) {
    std::vector<SimulatedKernel> scaled = step;
    for (SimulatedKernel& kernel : scaled) {
      kernel.work *= std::max(0.0, 1 + spread * normal_(random_));
    }
    SimulationOptions simulation;
    simulation.steps = steps;
    simulation.sample_ns = 10'000;
    simulation.seed = random_();
    const SimulatedLoad load = Simulate(scaled, simulation);
    for (const SimulatedLaunch& launch : load.launches) {
      engine_->AddInterval(launch.variant, IntervalKind::kKernel, launch.start_ns + now_ns_,
                           launch.end_ns + now_ns_);
    }
    for (const SimulatedSample& sample : load.samples) {
      engine_->AddSample(sample.start_ns + now_ns_, sample.end_ns + now_ns_,
                         std::array<double, 1>{sample.value});
    }
    now_ns_ += load.samples.back().end_ns - load.samples.front().start_ns;
    last_ns_ = load.samples.back().end_ns + now_ns_;
  }
  void Pause() { now_ns_ += kPauseNs; }

  Solution Solve() {
    engine_->AdvanceTo(last_ns_ + 1'000'000);
    return engine_->Solve();
  }

 private:
  Engine* engine_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  int64_t now_ns_ = 0;
  int64_t last_ns_ = 0;
};

struct Coverage {
  size_t intervals = 0;
  size_t held = 0;

  void Add(const Solution& solution, const SimulatedKernel& kernel) {
    for (const ColumnEstimate& column : solution.columns) {
      if (column.variant != kernel.variant || !column.counters[0].per_launch) continue;
      const double half_width = 1.959964 * *column.counters[0].standard_error;
      ++intervals;
      held += std::abs(*column.counters[0].per_launch - kernel.work) <= half_width ? 1 : 0;
    }
  }
  double Share() const { return static_cast<double>(held) / static_cast<double>(intervals); }
};

// One window of 20 ms, in which every millisecond is alike in itself and another than the rest.
TEST(WindowScatter, OneWindowShowsWhatItsPartsDifferBy) {
  Coverage coverage;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Engine engine(OneCounter());
    Program program(&engine, seed);
    for (int part = 0; part < 20; ++part) program.Work(kStep, 33, 0.3);
    const Solution solution = program.Solve();
    for (const SimulatedKernel& kernel : kStep) coverage.Add(solution, kernel);
  }
  EXPECT_GE(coverage.intervals, 120u);
  EXPECT_GE(coverage.Share(), 0.88);
}

TEST(WindowScatter, ManyWindowsShowWhatTheyDifferBy) {
  Coverage coverage;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Engine engine(OneCounter());
    Program program(&engine, seed);
    for (int window = 0; window < 8; ++window, program.Pause()) program.Work(kStep, 100, 0.15);
    const Solution solution = program.Solve();
    for (const SimulatedKernel& kernel : kStep) coverage.Add(solution, kernel);
  }
  EXPECT_GE(coverage.Share(), 0.88);
}

// A kernel that a single window met differs from window to window as others do.
TEST(WindowScatter, WhatOneWindowMetHasTheScatterOfTheOthers) {
  const SimulatedKernel seldom = {9, 7000, 6e6, 0, 1, 2000};
  std::vector<SimulatedKernel> with_it = kStep;
  with_it.push_back(seldom);
  Coverage coverage;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Engine engine(OneCounter());
    Program program(&engine, seed);
    for (int window = 0; window < 8; ++window, program.Pause()) {
      program.Work(window == 3 ? with_it : kStep, 100, 0.15);
    }
    const Solution solution = program.Solve();
    coverage.Add(solution, seldom);
    for (const ColumnEstimate& column : solution.columns) {
      if (column.variant == seldom.variant) {
        EXPECT_EQ(column.windows, 1u);
      } else if (column.launches > 0) {
        EXPECT_EQ(column.windows, 8u);
      }
    }
  }
  EXPECT_GE(coverage.Share(), 0.85);
}

TEST(ClusterVariance, OfEqualClustersIsThatOfTheirMeans) {
  ClusterVariance variance;
  for (uint64_t cluster = 0; cluster < 4; ++cluster) {
    for (int i = 0; i < 5; ++i) variance.Add(cluster, 1e9 + 10.0 * static_cast<double>(cluster), 0);
  }
  const double of_a_mean = (15.0 * 15 + 5 * 5 + 5 * 5 + 15 * 15) / 3;
  EXPECT_NEAR(variance.VarianceOfCluster(0), of_a_mean, 1e-6);
  EXPECT_NEAR(variance.VarianceOfMean(0), of_a_mean / 4, 1e-6);
  EXPECT_EQ(variance.clusters(), 4u);
}

TEST(ClusterVariance, OfOneClusterIsNotKnown) {
  ClusterVariance variance;
  EXPECT_EQ(variance.VarianceOfMean(0), 0);
  for (const double value : {1.0, 2.0, 3.0}) variance.Add(7, value, 0);
  EXPECT_EQ(variance.VarianceOfMean(0), 0);
  EXPECT_EQ(variance.clusters(), 1u);
}

}  // namespace
}  // namespace utlz::attribution
