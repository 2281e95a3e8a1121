// How the work of a kernel's launches is divided among the stacks that launched them.
#include "collector/summary/owner_work.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/support/known_run.h"

namespace utlz {
namespace {

// One function with one grid does products of two sizes: two layers, two kinds.
TEST(OwnerWorkTest, KindsOfAKernelHaveTheirOwnFlops) {
  KnownRun run({{.name = "gemm", .time_ns = 0}});
  run.analysis.rows.clear();
  constexpr uint32_t kSmallLayer = 1, kLargeLayer = 2;
  DurationHistogram kinds[2];
  for (int i = 0; i < 100; ++i) {
    const uint64_t small_ns = 1000 + static_cast<uint64_t>(i % 7), large_ns = 4000;
    run.state.kernels[0].durations.Add(small_ns);
    run.state.kernels[0].durations.Add(large_ns);
    kinds[0].Add(small_ns);
    kinds[1].Add(large_ns);
    run.state.stack_work.Add(kSmallLayer, 0, small_ns);
    run.state.stack_work.Add(kLargeLayer, 0, large_ns);
  }
  for (int kind = 0; kind < 2; ++kind) {
    KernelRow row;
    row.kernel = 0;
    row.durations = kinds[kind];
    row.launches = 300;  // three times what was traced
    row.time_ns = 3.0 * static_cast<double>(kinds[kind].sum_ns()) + 0.4;
    TypedFlops flops;
    flops.flops = kind == 0 ? 1e9 : 4e9;
    flops.error = 1e7;
    row.work.flops.push_back(flops);
    run.analysis.rows.push_back(row);
  }
  std::map<uint32_t, double> flops, launches;
  std::map<std::pair<uint32_t, size_t>, double> launches_of_row;
  std::map<uint32_t, int64_t> times;
  DivideWork(
      run.state, run.analysis, {},
      [&](uint32_t stack, size_t row, const WorkPart& part) {
        launches_of_row[{stack, row}] += part.launches;
        flops[stack] += *part.flops;
        launches[stack] += part.launches;
        times[stack] += part.time_ns;
      },
      [](const RowErrors& errors) { EXPECT_EQ(errors.flops, 1e7); });
  EXPECT_NEAR(launches[kSmallLayer], 300, 2);
  EXPECT_NEAR(launches[kLargeLayer], 300, 2);
  EXPECT_NEAR((launches_of_row[{kSmallLayer, 0}]), 300, 2);
  EXPECT_NEAR((launches_of_row[{kLargeLayer, 1}]), 300, 2);
  EXPECT_NEAR(flops[kSmallLayer], 300e9, 3e9);
  EXPECT_NEAR(flops[kLargeLayer], 1200e9, 3e9);
  EXPECT_EQ(times[kSmallLayer] + times[kLargeLayer],
            static_cast<int64_t>(3 * (kinds[0].sum_ns() + kinds[1].sum_ns())));
}

TEST(OwnerWorkTest, LaunchesWithoutAStackAreNobodys) {
  KnownRun run({{.name = "gemm", .time_ns = 1001}});
  for (int i = 0; i < 4; ++i) {
    run.state.kernels[0].durations.Add(100);
    run.analysis.rows[0].durations.Add(100);
  }
  run.state.stack_work.Add(5, 0, 100);
  std::map<uint32_t, int64_t> times;
  DivideWork(
      run.state, run.analysis, {},
      [&](uint32_t stack, size_t, const WorkPart& part) { times[stack] += part.time_ns; },
      [](const RowErrors&) {});
  EXPECT_EQ(times[5] + times[0], 1001);
  EXPECT_EQ(times[5], 250);
}

}  // namespace
}  // namespace utlz
