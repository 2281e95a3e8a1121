// How the work of a kernel's launches is divided among the stacks that launched them.
#include "collector/summary/owner_work.h"

#include <gtest/gtest.h>

#include <array>
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
    run.state.stack_work.Add(kSmallLayer, 0, small_ns, 0);
    run.state.stack_work.Add(kLargeLayer, 0, large_ns, 0);
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

// Two layers launch one kernel, each once a step. Windows see parts of steps, so that one of the
// two comes more often in some.
class DividedByWindowsTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kFirst = 1, kSecond = 2;

  DividedByWindowsTest() {
    run_.analysis.rows[0].launches = 0;
    TypedFlops flops;
    flops.flops = 1e9;
    run_.analysis.rows[0].work.flops.push_back(flops);
  }
  void Record(uint32_t stack, uint32_t window, int launches) {
    for (int i = 0; i < launches; ++i) {
      run_.state.kernels[0].durations.Add(100);
      run_.analysis.rows[0].durations.Add(100);
      run_.state.stack_work.Add(stack, 0, 100, window);
    }
  }
  // Of each layer's FLOPs and of both, where the kernel was launched so often in all.
  std::array<double, 3> Errors(double launches) {
    run_.analysis.rows[0].launches = launches;
    OwnerAmount layers[2], both;
    DivideWork(
        run_.state, run_.analysis, {},
        [&](uint32_t stack, size_t, const WorkPart& part) {
          layers[stack - kFirst].Add(part);
          both.Add(part);
        },
        [](const RowErrors&) {});
    return {layers[0].FlopsError(), layers[1].FlopsError(), both.FlopsError()};
  }

  KnownRun run_{{{.name = "gemm", .time_ns = 1e9}}};
};

TEST_F(DividedByWindowsTest, LayersThatAllWindowsSeeAlikeAreKnown) {
  for (uint32_t window = 0; window < 40; ++window) {
    Record(kFirst, window, 1 + static_cast<int>(window));
    Record(kSecond, window, 1 + static_cast<int>(window));
  }
  for (const double error : Errors(1e4)) EXPECT_NEAR(error, 0, 1);
}

TEST_F(DividedByWindowsTest, LayersThatWindowsSeeByChanceAreUncertainBetweenThem) {
  constexpr int kWindows = 64;
  // Window by window one of the two at random, as much as they differ by.
  uint32_t random = 12345;
  for (uint32_t window = 0; window < kWindows; ++window) {
    random = random * 1664525 + 1013904223;
    Record((random >> 20) % 2 == 0 ? kFirst : kSecond, window, 10);
  }
  const auto errors = Errors(1e4);
  // The share of one is known to 1 / (2 √64), of the launches that were not recorded.
  const double expected = (1e4 - 10 * kWindows) / 16 * 1e9;
  EXPECT_NEAR(errors[0], expected, 0.5 * expected);
  EXPECT_NEAR(errors[1], errors[0], 1) << "what one has too many the other one lacks";
  EXPECT_NEAR(errors[2], 0, 1) << "of both together nothing is divided";
  EXPECT_NEAR(Errors(10 * kWindows)[0], 0, 1) << "all was recorded";
}

TEST(OwnerWorkTest, LaunchesWithoutAStackAreNobodys) {
  KnownRun run({{.name = "gemm", .time_ns = 1001}});
  for (int i = 0; i < 4; ++i) {
    run.state.kernels[0].durations.Add(100);
    run.analysis.rows[0].durations.Add(100);
  }
  run.state.stack_work.Add(5, 0, 100, 0);
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
